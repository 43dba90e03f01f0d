//! A database of one test.

use std::{
    error::Error,
    path::PathBuf,
    sync::atomic::{AtomicU64, Ordering},
};

use gen_durable_runtime::store::{
    DatabaseOptions, Migration,
    copy::{self, Copied},
};
use local_postgres::{Database, Profile};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, sqlite::SqliteConnectOptions};

/// The error of a helper.
pub type Fault = Box<dyn Error + Send + Sync>;
/// The outcome of a test.
pub type Outcome = Result<(), Fault>;

/// A store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Sqlite,
    Postgres,
}

/// A database, removed on drop; nothing stands in it yet.
#[derive(Debug)]
pub enum Place {
    Sqlite(PathBuf),
    Postgres(Database),
}

impl Place {
    /// # Errors
    /// When there is no server.
    pub fn new(kind: Kind) -> Result<Self, Fault> {
        Ok(match kind {
            Kind::Sqlite => Self::Sqlite(directory()?.join("a.db")),
            Kind::Postgres => Self::Postgres(local_postgres::shared(Profile::Fast)?.create_database()?),
        })
    }

    /// A new one with the tables.
    ///
    /// # Errors
    /// The store's.
    pub async fn migrated(kind: Kind) -> Result<Self, Fault> {
        let place = Self::new(kind)?;
        let store = DatabaseOptions::new(place.url()).open()?;
        store.migrate(&Migration::default()).await?;
        store.close().await?;
        Ok(place)
    }

    /// Its URL.
    pub fn url(&self) -> String {
        match self {
            Self::Sqlite(path) => format!("sqlite://{}", path.display()),
            Self::Postgres(database) => database.url(),
        }
    }

    /// How it is opened.
    pub fn options(&self) -> DatabaseOptions {
        DatabaseOptions::new(self.url())
    }

    /// Runs statements, beside the library and without its checks of foreign keys.
    ///
    /// # Errors
    /// The database's.
    pub async fn execute(&self, sql: &str) -> Outcome {
        match self {
            Self::Sqlite(path) => {
                let mut conn = SqliteConnectOptions::new().filename(path).foreign_keys(false).connect().await?;
                sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut conn).await?;
                Ok(conn.close().await?)
            }
            Self::Postgres(database) => Ok(database.query(sql).map(drop)?),
        }
    }

    /// Copies all of it.
    ///
    /// # Errors
    /// Those of the copy.
    pub async fn copy_to(&self, to: &Self) -> Result<Vec<Copied>, gen_durable_runtime::Error> {
        copy::copy(&self.options(), &to.options(), &mut |_| ()).await
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Self::Sqlite(path) = self
            && let Some(directory) = path.parent()
        {
            let _ = std::fs::remove_dir_all(directory);
        }
    }
}

/// A directory of its own.
fn directory() -> std::io::Result<PathBuf> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let directory = std::env::temp_dir().join(format!("gen-durable-copy-{}-{count}", std::process::id()));
    std::fs::create_dir_all(&directory)?;
    Ok(directory)
}
