//! The schema of the file: its versions, up and down, and whether this program can work on what stands.

use sqlx::{ConnectOptions, Connection, SqliteConnection};

use super::{Sqlite, error, session::Survive};
use crate::{Error, store::Migration};

/// A version: what puts it up, and what takes it down again.
struct Version {
    up: &'static str,
    down: &'static str,
}

const VERSIONS: [Version; 1] =
    [Version { up: include_str!("versions/v1/up.sql"), down: include_str!("versions/v1/down.sql") }];
const LATEST: u32 = 1;

const MIGRATING: &str = "migrating";
const OPENING: &str = "opening the database file";

/// What stands: the version, and the oldest program that may work on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Installed {
    version: u32,
    oldest_code: u32,
}

/// Brings the file to a version; makes it if it is not there.
pub(super) async fn migrate(store: &Sqlite, migration: &Migration) -> Result<Vec<String>, Error> {
    let target = migration.to.unwrap_or(LATEST);
    if target > LATEST {
        return Err(Error::schema(format!("SQLite has the versions 0 to {LATEST}, and {target} was asked for")));
    }
    create(store).await?;
    let mut transaction = store.writing(MIGRATING, Survive::PowerCut).await?;
    let done = steps(transaction.connection(), target, migration.to.is_none()).await;
    let done = done.map_err(|failed| failed.at(MIGRATING))?;
    transaction.end().await?;
    Ok(done)
}

/// Another process may do the same: making the file and its log is serialized by SQLite's own locks.
async fn create(store: &Sqlite) -> Result<(), Error> {
    if store.0.file.path().is_none() {
        return Ok(());
    }
    let options = store.0.file.writing().create_if_missing(true).busy_timeout(store.0.options.call_timeout);
    let connection = options.connect().await.map_err(error::at(OPENING))?;
    connection.close().await.map_err(error::at(OPENING))
}

enum Failed {
    Told(Error),
    Driver(sqlx::Error),
}

impl Failed {
    fn at(self, operation: &'static str) -> Error {
        match self {
            Self::Told(error) => error,
            Self::Driver(e) => error::at(operation)(e),
        }
    }
}

impl From<sqlx::Error> for Failed {
    fn from(error: sqlx::Error) -> Self {
        Self::Driver(error)
    }
}

async fn steps(connection: &mut SqliteConnection, target: u32, to_latest: bool) -> Result<Vec<String>, Failed> {
    let found = installed(connection).await?.unwrap_or_default();
    if found.version > LATEST {
        // A newer program's file, which lets us work on it, is left as it is; going back needs that program.
        let allowed = to_latest && found.oldest_code <= LATEST;
        return if allowed { Ok(vec![]) } else { Err(Failed::Told(newer(found))) };
    }
    let mut done = Vec::new();
    for version in found.version + 1..=target {
        sqlx::raw_sql(at(version).up).execute(&mut *connection).await?;
        done.push(format!("sqlite: version {version} is up"));
    }
    for version in (target + 1..=found.version).rev() {
        sqlx::raw_sql(at(version).down).execute(&mut *connection).await?;
        done.push(format!("sqlite: version {version} was taken down"));
    }
    Ok(done)
}

fn at(version: u32) -> &'static Version {
    &VERSIONS[version as usize - 1]
}

/// Whether this program can work on the file, and write to it; changes nothing.
pub(super) async fn check(store: &Sqlite) -> Result<(), Error> {
    if let Some(path) = store.0.file.path()
        && !path.exists()
    {
        return Err(Error::schema(format!("there is no database file {}; run `migrate`", path.display())));
    }
    // As a writer: a file that can only be read is of no use.
    let mut session = store.writing(OPENING, Survive::Crash).await?;
    let found = installed(session.connection()).await.map_err(error::at(OPENING))?;
    session.end().await?;
    match found {
        None => Err(Error::schema(format!(
            "the file has no gen-durable tables: found version 0, need {LATEST}; run `migrate`"
        ))),
        Some(found) if found.oldest_code > LATEST => Err(newer(found)),
        Some(found) if found.version < LATEST => Err(Error::schema(format!(
            "the file is older than this program: found version {}, need {LATEST}; run `migrate`",
            found.version
        ))),
        Some(_) => Ok(()),
    }
}

async fn installed(connection: &mut SqliteConnection) -> Result<Option<Installed>, sqlx::Error> {
    let tables: i64 = sqlx::query_scalar(include_str!("sql/installed.sql")).fetch_one(&mut *connection).await?;
    if tables == 0 {
        return Ok(None);
    }
    let (version, oldest_code) = sqlx::query_as(include_str!("sql/meta.sql")).fetch_one(connection).await?;
    Ok(Some(Installed { version, oldest_code }))
}

fn newer(found: Installed) -> Error {
    let Installed { version, oldest_code } = found;
    Error::schema(format!(
        "the file is of a newer program: found version {version}, which needs a program of version {oldest_code} or \
         later, and this one is {LATEST}; update the program"
    ))
}
