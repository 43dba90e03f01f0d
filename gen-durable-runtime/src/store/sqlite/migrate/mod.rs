//! The schema of the file: its versions, up and down, and whether this program can work on what stands.

use std::time::{Duration, Instant};

use sqlx::{ConnectOptions, Connection};

use super::{
    Sqlite, error,
    file::File,
    rows,
    session::{Session, Survive},
};
use crate::{Error, store::Migration};

/// A version: what puts it up, and what takes it down again.
struct Version {
    up: &'static str,
    down: &'static str,
}

const VERSIONS: [Version; 3] = [
    Version { up: include_str!("versions/v1/up.sql"), down: include_str!("versions/v1/down.sql") },
    Version { up: include_str!("versions/v2/up.sql"), down: include_str!("versions/v2/down.sql") },
    Version { up: include_str!("versions/v3/up.sql"), down: include_str!("versions/v3/down.sql") },
];
const LATEST: u32 = 3;

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
    let mut session = store.writing(MIGRATING, Survive::PowerCut).await?;
    let done = steps(&mut session, target, migration.to.is_none()).await?;
    session.end().await?;
    Ok(done)
}

/// Another process may do the same: making the file and its log is serialized by SQLite's own locks, for which it does
/// not always wait.
async fn create(store: &Sqlite) -> Result<(), Error> {
    if store.0.file.path().is_none() {
        return Ok(());
    }
    store.0.file.stands(OPENING)?;
    let options = store.0.file.writing().create_if_missing(true);
    let until = Instant::now() + store.0.options.call_timeout;
    loop {
        match options.connect().await {
            Err(e) if error::is_busy(&e) && Instant::now() < until => {}
            Err(e) => return Err(store.failed(OPENING)(e)),
            Ok(connection) => return connection.close().await.map_err(store.failed(OPENING)),
        }
        tokio::time::sleep(Duration::from_millis(rand::random_range(1..10))).await;
    }
}

async fn steps(session: &mut Session<'_>, target: u32, to_latest: bool) -> Result<Vec<String>, Error> {
    let found = installed(session).await?.unwrap_or_default();
    if found.version > LATEST {
        // A newer program's file, which lets us work on it, is left as it is; going back needs that program.
        let allowed = to_latest && found.oldest_code <= LATEST;
        return if allowed { Ok(vec![]) } else { Err(newer(session.file(), found)) };
    }
    let mut done = Vec::new();
    for version in found.version + 1..=target {
        session.script(at(version).up).await?;
        done.push(format!("sqlite: version {version} is up"));
    }
    for version in (target + 1..=found.version).rev() {
        session.script(at(version).down).await?;
        done.push(format!("sqlite: version {version} was taken down"));
    }
    Ok(done)
}

fn at(version: u32) -> &'static Version {
    &VERSIONS[version as usize - 1]
}

/// Whether this program can work on the file, and write to it; changes nothing.
pub(super) async fn check(store: &Sqlite) -> Result<(), Error> {
    let file = &store.0.file;
    // Where that cannot be told, opening it tells why.
    if file.path().is_some_and(|path| !path.try_exists().unwrap_or(true)) {
        return Err(Error::schema(format!("there is no database file {file}; run `migrate`")));
    }
    let mut session = store.writing(OPENING, Survive::Crash).await?;
    let found = installed(&mut session).await?;
    if found.is_some() {
        session.rows(sqlx::query(include_str!("sql/writable.sql"))).await?;
    }
    session.end().await?;
    match found {
        None => Err(Error::schema(format!(
            "{file} has no gen-durable tables: found version 0, need {LATEST}; run `migrate`"
        ))),
        Some(found) if found.oldest_code > LATEST => Err(newer(file, found)),
        Some(found) if found.version < LATEST => Err(Error::schema(format!(
            "{file} is older than this program: found version {}, need {LATEST}; run `migrate`",
            found.version
        ))),
        Some(_) => Ok(()),
    }
}

async fn installed(session: &mut Session<'_>) -> Result<Option<Installed>, Error> {
    let tables = session.rows(sqlx::query(include_str!("sql/installed.sql"))).await?;
    match tables.first().map(|r| rows::get::<i64>(r, "tables")).transpose()? {
        None | Some(0) => return Ok(None),
        Some(2) => {}
        Some(_) => return Err(incomplete(session.file())),
    }
    let meta = session.rows(sqlx::query(include_str!("sql/meta.sql"))).await?;
    let row = meta.first().ok_or_else(|| incomplete(session.file()))?;
    Ok(Some(Installed { version: rows::small(row, "version")?, oldest_code: rows::small(row, "oldest_code")? }))
}

fn incomplete(file: &File) -> Error {
    Error::schema(format!(
        "{file} has some of the gen-durable tables, and not all that belong together: restore it from a copy, or name \
         another file"
    ))
}

fn newer(file: &File, found: Installed) -> Error {
    let Installed { version, oldest_code } = found;
    Error::schema(format!(
        "{file} is of a newer program: found version {version}, which needs a program of version {oldest_code} or \
         later, and this one is {LATEST}; update the program"
    ))
}
