//! Which database: the one that is named, else one on a private server whose data stay, so that the demo can be killed
//! and goes on where it was.

use std::sync::OnceLock;

use local_postgres::{Profile, Server};

type Fault = Box<dyn std::error::Error + Send + Sync>;

const NAME: &str = "checkout";

/// The private server runs as long as a process holds this.
static SERVER: OnceLock<Server> = OnceLock::new();

/// For `worker!`: called when neither `--database` nor `DATABASE_URL` says where.
pub fn find() -> Result<String, Fault> {
    let server = match SERVER.get() {
        Some(server) => server,
        None => {
            let server = local_postgres::kept("checkout", Profile::Durable)?;
            eprintln!("no DATABASE_URL: using a private PostgreSQL, its data stay in {}", server.data_dir().display());
            SERVER.get_or_init(|| server)
        }
    };
    create(server)?;
    Ok(server.url(NAME))
}

/// An empty database again. Only the private one: what stands in another is not ours to drop.
pub fn empty() -> Result<(), Fault> {
    let Some(server) = SERVER.get() else {
        return Err("--fresh empties the example's own database only; give another DATABASE_URL".into());
    };
    server.query("postgres", &format!("DROP DATABASE IF EXISTS {NAME} WITH (FORCE)"))?;
    Ok(create(server)?)
}

fn create(server: &Server) -> local_postgres::Result<()> {
    match server.query("postgres", &format!("CREATE DATABASE {NAME}")) {
        // It is there.
        Err(error) if error.sqlstate() == Some("42P04") => Ok(()),
        created => created.map(drop),
    }
}
