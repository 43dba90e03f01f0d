//! What the steps did, written on connections of their own, each run at once: real executions are counted there.

use std::time::Duration;

/// A way to the table `effects`.
#[derive(Debug, Clone)]
pub enum Effects {
    #[cfg(feature = "postgres")]
    Postgres(sqlx::PgPool),
    #[cfg(feature = "sqlite")]
    Sqlite(sqlx::SqlitePool),
}

const INSERT: &str = "INSERT INTO effects (instance, step, attempt, process) VALUES ($1, $2, $3, $4)";

impl Effects {
    /// Connects with the first effect.
    pub fn at(url: &str) -> Self {
        let patience = Duration::from_secs(5);
        match url.split_once("://") {
            #[cfg(feature = "sqlite")]
            Some(("sqlite", path)) => {
                let options = crate::database::connecting(std::path::Path::new(path));
                let pool = sqlx::sqlite::SqlitePoolOptions::new().max_connections(3).acquire_timeout(patience);
                Self::Sqlite(pool.connect_lazy_with(options))
            }
            #[cfg(feature = "postgres")]
            _ => {
                let pool = sqlx::postgres::PgPoolOptions::new().max_connections(3).acquire_timeout(patience);
                Self::Postgres(pool.connect_lazy(url).expect("a URL"))
            }
            #[cfg(not(feature = "postgres"))]
            _ => panic!("no store for {url}"),
        }
    }

    /// One run of a step, by this process.
    pub async fn write(&self, instance: i64, step: &str, attempt: u32) -> Result<(), sqlx::Error> {
        let numbers = (i32::try_from(attempt), i32::try_from(std::process::id()));
        let (Ok(attempt), Ok(process)) = numbers else { return Err(sqlx::Error::Protocol("too large".into())) };
        match self {
            #[cfg(feature = "postgres")]
            Self::Postgres(pool) => {
                let insert = sqlx::query(INSERT).bind(instance).bind(step).bind(attempt).bind(process);
                insert.execute(pool).await.map(drop)
            }
            #[cfg(feature = "sqlite")]
            Self::Sqlite(pool) => {
                let insert = sqlx::query(INSERT).bind(instance).bind(step).bind(attempt).bind(process);
                insert.execute(pool).await.map(drop)
            }
        }
    }
}
