//! A database of a test's own, and servers on it: the real binary, asked over HTTP.

use std::{
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use local_postgres::Profile;
use reqwest::StatusCode;
use serde_json::{Value, json};

/// An empty directory, and in it the file that the service makes when nobody names a database; or one on Postgres.
pub struct Database {
    directory: PathBuf,
    server: Option<local_postgres::Database>,
}

impl Database {
    pub fn sqlite() -> Self {
        Self::new(None)
    }

    pub fn postgres() -> Self {
        let database = local_postgres::shared(Profile::Fast).and_then(|server| server.create_database());
        Self::new(Some(database.expect("a server is installed")))
    }

    fn new(server: Option<local_postgres::Database>) -> Self {
        let directory = std::env::temp_dir().join(format!("orders-test-{:016x}", rand::random::<u64>()));
        std::fs::create_dir(&directory).expect("a writable directory");
        Self { directory, server }
    }

    /// A server on a free port, once it listens.
    pub fn serve(&self, args: &[&str]) -> Server {
        let mut command = self.orders(&["serve", "127.0.0.1:0"]);
        let mut process = command.args(args).stdout(Stdio::piped()).spawn().expect("the binary was built");
        let mut said = String::new();
        let stdout = process.stdout.as_mut().expect("piped");
        BufReader::new(stdout).read_line(&mut said).expect("text");
        let url = said.trim().strip_prefix("listening on ").expect("it listens").to_owned();
        Server { process, url, http: reqwest::Client::new() }
    }

    /// The example's binary on this database.
    pub fn orders(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_orders"));
        command.args(args).current_dir(&self.directory).env_remove("DATABASE_URL");
        command.envs(self.server.as_ref().map(|server| ("DATABASE_URL", server.url())));
        command
    }

    /// What a query counts.
    pub async fn number(&self, sql: &'static str) -> i64 {
        match &self.server {
            Some(server) => {
                let pool = sqlx::PgPool::connect(&server.url()).await.expect("a server");
                sqlx::query_scalar(sql).fetch_one(&pool).await.expect(sql)
            }
            None => {
                let url = format!("sqlite://{}/gen-durable.db", self.directory.display());
                let pool = sqlx::SqlitePool::connect(&url).await.expect("a file");
                sqlx::query_scalar(sql).fetch_one(&pool).await.expect(sql)
            }
        }
    }
}

/// Removed at the end, with what is in it.
impl Drop for Database {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// One process. Killed when it is dropped.
pub struct Server {
    process: Child,
    url: String,
    http: reqwest::Client,
}

type Answer = (StatusCode, Value);

impl Server {
    /// SIGKILL: nothing of it runs any more.
    pub fn kill(mut self) {
        self.process.kill().expect("our child");
        let status = self.process.wait().expect("our child");
        assert!(status.code().is_none(), "it had ended before: {status}");
    }

    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// How it ends when it is asked to.
    pub fn ended(mut self) -> std::process::ExitStatus {
        self.process.wait().expect("our child")
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        let response = self.http.post(format!("{}{path}", self.url)).json(body).send().await.expect("it answers");
        (response.status(), response.json().await.expect("JSON"))
    }

    pub async fn place(&self, order: i64, item: &str, pieces: u32) -> Answer {
        self.post("/orders", &json!({ "order": order, "item": item, "pieces": pieces })).await
    }

    pub async fn paid(&self, event: &str, order: i64) -> Answer {
        let news = json!({ "event": event, "order": order, "result": "paid", "payment": order + 700_000 });
        self.post("/webhooks/payment", &news).await
    }

    pub async fn look(&self, order: i64) -> Answer {
        let response = self.http.get(format!("{}/orders/{order}", self.url)).send().await.expect("it answers");
        (response.status(), response.json().await.expect("JSON"))
    }

    /// The order, once its row says this.
    pub async fn becomes(&self, order: i64, state: &str) -> Value {
        let since = Instant::now();
        loop {
            let (status, seen) = self.look(order).await;
            if seen["state"] == state {
                return seen;
            }
            assert!(since.elapsed() < Duration::from_secs(30), "{status} {seen:#}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
