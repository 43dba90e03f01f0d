use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use sqlx::{
    SqlitePool,
    sqlite::{SqliteConnectOptions, SqlitePoolOptions, SqliteSynchronous},
};

use super::{Database, Deed, Outside, store};

/// A file of its own, in memory where there is such a place.
pub(super) struct File(PathBuf);

impl File {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let memory = Path::new("/dev/shm");
        let dir = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self(dir.join(format!("gen-durable-model-{}-{number}.db", std::process::id())))
    }
}

impl Drop for File {
    fn drop(&mut self) {
        for end in ["", "-wal", "-shm", "-journal"] {
            let mut path = self.0.clone().into_os_string();
            path.push(end);
            // What never was, or went already, is gone as well.
            std::fs::remove_file(path).ok();
        }
    }
}

pub(super) async fn open() -> Database {
    let file = File::new();
    let store = store(&format!("sqlite://{}", file.0.display())).await;
    let options = SqliteConnectOptions::new().filename(&file.0).busy_timeout(Duration::from_secs(30));
    let options = options.synchronous(SqliteSynchronous::Off);
    let pool = SqlitePoolOptions::new().max_connections(1).connect_with(options).await.expect("opens");
    Database { store, outside: Outside::Sqlite(pool, file) }
}

pub(super) async fn run(pool: &SqlitePool, deed: Deed) {
    let query = match deed {
        Deed::Pin(moments) => sqlx::query(include_str!("sql/pin.sqlite.sql")).bind(moments),
        Deed::Shift(micros) => sqlx::query(include_str!("sql/shift.sqlite.sql")).bind(micros),
        Deed::Foreign(id) => sqlx::query(include_str!("sql/foreign.sqlite.sql")).bind(id),
        Deed::Reset => sqlx::query(include_str!("sql/reset.sqlite.sql")),
    };
    query.execute(pool).await.expect("the deed");
}
