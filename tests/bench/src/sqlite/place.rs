use std::{
    path::PathBuf,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use gen_durable::{Client, Migration};
use sqlx::{
    ConnectOptions, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteSynchronous},
};

use crate::{Fault, machines::Nothing};

/// A migrated file of its own, on the disk that holds temporary files, and a connection set as the engine's writer is.
pub struct File {
    pub client: Client,
    pub connection: SqliteConnection,
    directory: PathBuf,
}

impl File {
    pub async fn new() -> Result<Self, Fault> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let directory = std::env::temp_dir().join(format!("gen-durable-bench-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&directory)?;
        let url = format!("sqlite://{}/bench.db", directory.display());
        let client = Client::options(&url).open()?;
        client.migrate(Migration::default()).await?;
        let options: SqliteConnectOptions = url.parse()?;
        let options = options.synchronous(SqliteSynchronous::Full).busy_timeout(Duration::from_secs(30));
        let options = options.pragma("cache_size", "-16000").pragma("temp_store", "memory");
        let options = options.pragma("wal_autocheckpoint", "4000").row_buffer_size(1_000);
        Ok(Self { client, connection: options.connect().await?, directory })
    }

    /// No-op instances, due now.
    pub async fn fill(&mut self, machine: &str, step: &str, rows: usize) -> Result<(), Fault> {
        let fill = sqlx::query(include_str!("sql/fill.sql")).bind(machine).bind(step).bind(i64::try_from(rows)?);
        fill.execute(&mut self.connection).await?;
        Ok(())
    }

    /// Waits until so many have ended, and are committed.
    pub async fn ended(&mut self, nothing: &Nothing, rows: usize) -> Result<(), Fault> {
        while nothing.ended.load(Ordering::Relaxed) < rows {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let rows = i64::try_from(rows)?;
        while sqlx::query_scalar::<_, i64>(include_str!("sql/ended.sql")).fetch_one(&mut self.connection).await? < rows
        {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        Ok(())
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}
