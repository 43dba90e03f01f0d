//! A database of a test's own, and the orders file beside it.

use std::{path::PathBuf, process::Command};

use local_postgres::Profile;

/// An empty directory, and in it the file that the demo makes when nobody names a database; or one on Postgres.
pub struct Database {
    directory: Directory,
    server: Option<local_postgres::Database>,
}

impl Database {
    pub fn sqlite() -> Self {
        Self { directory: Directory::new(), server: None }
    }

    pub fn postgres() -> Self {
        let database = local_postgres::shared(Profile::Fast).and_then(|server| server.create_database());
        Self { directory: Directory::new(), server: Some(database.expect("a server is installed")) }
    }

    /// The example's binary on this database.
    pub fn demo(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_checkout"));
        command.arg("demo").current_dir(&self.directory.0).env_remove("DATABASE_URL");
        command.envs(self.server.as_ref().map(|server| ("DATABASE_URL", server.url())));
        command
    }

    /// An orders file beside it.
    pub fn file(&self, text: &str) -> PathBuf {
        let path = self.directory.0.join("orders.csv");
        std::fs::write(&path, text).expect("a writable directory");
        path
    }

    /// What a query counts.
    pub fn number(&self, sql: &'static str) -> i64 {
        let url = match &self.server {
            Some(server) => server.url(),
            None => format!("sqlite://{}/gen-durable.db", self.directory.0.display()),
        };
        sqlx::any::install_default_drivers();
        let count = async {
            let pool = sqlx::AnyPool::connect(&url).await?;
            sqlx::query_scalar(sql).fetch_one(&pool).await
        };
        tokio::runtime::Runtime::new().expect("a runtime").block_on(count).expect(sql)
    }
}

/// Removed at the end, with what is in it.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("checkout-test-{:016x}", rand::random::<u64>()));
        std::fs::create_dir(&path).expect("a writable directory");
        Self(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
