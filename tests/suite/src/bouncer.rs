//! pgbouncer in front of a database: one server connection for each transaction.

use std::{
    fs,
    net::TcpListener,
    os::unix::{
        fs::{MetadataExt, PermissionsExt},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use crate::{Db, eventually};

/// A pooler in transaction mode. Killed when it is dropped.
#[derive(Debug)]
pub struct Bouncer {
    url: String,
    process: Child,
    dir: PathBuf,
}

impl Bouncer {
    /// With so many connections to the server; `None` when pgbouncer is not installed.
    pub async fn to(db: &Db, pool: usize) -> Option<Self> {
        let binary = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/usr/local/bin/pgbouncer"];
        let binary = binary.iter().find(|path| Path::new(path).exists())?;
        // Taken for a moment, so that it is free.
        let port = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a port").port();
        let dir = std::env::temp_dir().join(format!("suite-bouncer-{}-{port}", std::process::id()));
        fs::create_dir_all(&dir).expect("a directory");
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).expect("readable");
        let configuration = dir.join("pgbouncer.ini");
        fs::write(&configuration, settings(db, port, pool)).expect("written");
        let mut command = Command::new(binary);
        // It refuses to run as root, and only the server's own account reaches the socket.
        let owner = fs::metadata(db.database().server().socket_dir()).expect("the server runs");
        // SAFETY: asks for a number.
        if unsafe { libc::geteuid() } == 0 {
            command.uid(owner.uid()).gid(owner.gid());
        }
        command.arg(&configuration).stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(fs::File::create(dir.join("log")).expect("a log"));
        let process = command.spawn().expect("pgbouncer starts");
        let url = format!("postgres://postgres@127.0.0.1:{port}/{}?sslmode=disable", db.database().name());
        let bouncer = Self { url, process, dir };
        let answers = async || tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_ok();
        eventually("pgbouncer answers", Duration::from_secs(10), answers).await;
        Some(bouncer)
    }

    /// The database, through the pooler.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What it logged.
    pub fn log(&self) -> String {
        fs::read_to_string(self.dir.join("log")).unwrap_or_default()
    }
}

fn settings(db: &Db, port: u16, pool: usize) -> String {
    let (name, socket) = (db.database().name(), db.database().server().socket_dir());
    format!(
        "[databases]\n{name} = host={} port=5432 dbname={name} user=postgres\n[pgbouncer]\n\
         listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\npool_mode = transaction\n\
         default_pool_size = {pool}\nmax_client_conn = 500\n\
         ignore_startup_parameters = extra_float_digits\n",
        socket.display()
    )
}

impl Drop for Bouncer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.dir);
    }
}
