//! Moves everything from one database to another, of either dialect, ids kept.
//!
//! Both sides are one transaction each: the source as it stood when nobody could write to it any more, the target
//! whole or empty. Between them rows travel in values that no dialect owns ([`Value`]), a page at a time.

mod pages;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod read;
mod side;
mod tables;

use std::sync::Arc;

#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(super) use read::row;
pub(super) use side::{COPYING, in_use, refuse};
pub use side::{Claims, Counts, Marks, Page, Role, Rows, Side, row_refused};
pub use tables::{Column, Kind, Row, Table, Value};

use super::{DatabaseOptions, Migration, SchemaName, Store};
use crate::Error;

/// How far a copy is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Rows written so far.
    pub rows: usize,
    /// Rows in all.
    pub total: usize,
}

/// What became of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copied {
    /// Its name.
    pub table: &'static str,
    /// Rows in the source.
    pub source: i64,
    /// Rows in the target, counted there before the commit.
    pub target: i64,
}

/// The options of both sides, as a command line names them. Only Postgres has schemas and poolers: on a SQLite file
/// both are left out, and asked for between two files they are refused when those are opened.
///
/// ```
/// # use gen_durable_runtime::store::{SchemaName, copy::sides};
/// let [from, to] = sides("sqlite://shop.db", "postgres://localhost/shop", &SchemaName::new("jobs")?, false);
/// assert_eq!((from.schema.as_str(), to.schema.as_str()), ("public", "jobs"));
/// # Ok::<(), gen_durable_runtime::model::Invalid>(())
/// ```
pub fn sides(from: &str, to: &str, schema: &SchemaName, transaction_pooler: bool) -> [DatabaseOptions; 2] {
    let is_file = |url: &str| url.starts_with("sqlite:");
    let are_files = is_file(from) && is_file(to);
    [from, to].map(|url| match is_file(url) && !are_files {
        true => DatabaseOptions::new(url),
        false => DatabaseOptions { schema: schema.clone(), transaction_pooler, ..DatabaseOptions::new(url) },
    })
}

/// Copies every instance, signal, line of history, limit, bucket and schedule; answers with the counts of both sides.
///
/// The target is made and migrated if it is not there, and must be empty. The source must be at the latest version;
/// nothing in it changes. Nobody may work on either: no live claim, on Postgres no other session of gen-durable in
/// that database (by its `application_name`; one behind a pooler is not always seen), on SQLite nobody else who has
/// the file open. Whoever comes meanwhile waits for the end, or gives up.
///
/// It happens as a whole or not at all: dropped, failed or killed, the target has its tables and no row. What a claim
/// held comes along, and is taken back on the target when its lease is over. JSON becomes `jsonb` on Postgres, with
/// what that does to it: keys in its order, the last of equal keys, no `\u0000`.
///
/// `progress` is called after every page of up to 1,000 rows.
///
/// ```no_run
/// # use gen_durable_runtime::{Error, store::{DatabaseOptions, copy}};
/// # async fn run() -> Result<(), Error> {
/// let (from, to) = (DatabaseOptions::new("sqlite://shop.db"), DatabaseOptions::new("postgres://localhost/shop"));
/// for table in copy::copy(&from, &to, &mut |at| eprintln!("{} of {}", at.rows, at.total)).await? {
///     println!("{}: {} rows", table.table, table.target);
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// A schema error when the source is missing, older or newer. A transient one when someone works on a side, or a
/// connection broke. A permanent one when the target has rows, the counts differ, or a row cannot stand in the
/// target: it names the row's id and column.
pub async fn copy(
    from: &DatabaseOptions,
    to: &DatabaseOptions,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Vec<Copied>, Error> {
    let (source, target) = (from.clone().open()?, to.clone().open()?);
    if is_same(&*source, &*target) {
        return Err(refuse(format!("{} is both the source and the target", source.describe())));
    }
    let checked = source.check().await;
    // A pool of our own must not be what keeps us from the file.
    source.close().await?;
    checked.map_err(|e| about(&*source, e))?;
    let mut reading = source.copy_side(Role::Source).await.map_err(|e| about(&*source, e))?;
    let done = fill(&*source, &mut *reading, &target, progress).await;
    let closed = reading.close().await;
    done.and_then(|copied| closed.map(|()| copied))
}

/// From a source that nobody writes to any more.
async fn fill(
    source: &dyn Store,
    reading: &mut dyn Side,
    target: &Arc<dyn Store>,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Vec<Copied>, Error> {
    is_at_rest(reading).await.map_err(|e| about(source, e))?;
    is_known(reading).await.map_err(|e| about(source, e))?;
    let migrated = target.migrate(&Migration::default()).await;
    target.close().await?;
    migrated.map_err(|e| about(&**target, e))?;
    let mut writing = target.copy_side(Role::Target).await.map_err(|e| about(&**target, e))?;
    let done = move_all(reading, &mut *writing, &target.describe(), progress).await;
    let closed = writing.close().await;
    done.and_then(|copied| closed.map(|()| copied))
}

async fn move_all(
    reading: &mut dyn Side,
    writing: &mut dyn Side,
    target: &str,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Vec<Copied>, Error> {
    is_empty(writing.counts().await?, target)?;
    let (expected, marks) = (reading.counts().await?, reading.marks().await?);
    let total = expected.iter().filter_map(|rows| usize::try_from(*rows).ok()).sum();
    let mut rows = 0;
    let mut moved = Counts::default();
    for (table, moved) in Table::ALL.into_iter().zip(&mut moved) {
        let mut step = |more| {
            rows += more;
            progress(Progress { rows, total });
        };
        let written = pages::pour(reading, writing, table, &mut step).await?;
        *moved = i64::try_from(written).unwrap_or(i64::MAX);
    }
    let found = writing.counts().await?;
    is_whole(expected, moved, found)?;
    writing.commit(marks).await?;
    Ok(report(expected, found))
}

async fn is_at_rest(reading: &mut dyn Side) -> Result<(), Error> {
    let claims = reading.claims().await?;
    if claims.count == 0 {
        return Ok(());
    }
    Err(in_use(format!(
        "{} claims are live for up to {} s: a worker runs, or died just now; stop all workers, which gives claims back, \
         or wait",
        claims.count,
        claims.longest.as_secs() + 1
    )))
}

/// A column we do not know would be lost.
async fn is_known(reading: &mut dyn Side) -> Result<(), Error> {
    for table in Table::ALL {
        let known = |name: &String| table.columns().iter().any(|(column, _)| column == name);
        let found = reading.columns(table).await?;
        // The links are two columns of the instances.
        let unknown = found.iter().find(|name| table != Table::Links && !known(name));
        if let Some(unknown) = unknown {
            let text = format!("{} has a column {unknown} that this program does not know", table.name());
            return Err(refuse(format!("{text}: a newer program's, which can copy it, or one of your own")));
        }
    }
    Ok(())
}

fn is_empty(counts: Counts, target: &str) -> Result<(), Error> {
    let mut full: Vec<String> = Vec::new();
    for (table, rows) in Table::ALL.into_iter().zip(counts).filter(|(t, rows)| *t != Table::Links && *rows != 0) {
        full.push(format!("{rows} in {}", table.name()));
    }
    match full.as_slice() {
        [] => Ok(()),
        full => Err(refuse(format!(
            "{target}: the target must be empty, and has rows: {}; name another, or take its tables down with \
             `migrate --to 0`",
            full.join(", ")
        ))),
    }
}

fn is_whole(expected: Counts, moved: Counts, found: Counts) -> Result<(), Error> {
    for (at, table) in Table::ALL.into_iter().enumerate() {
        let (expected, moved, found) = (expected[at], moved[at], found[at]);
        if expected != moved || expected != found {
            return Err(refuse(format!(
                "{}: the source has {expected} rows, {moved} were written and {found} stand in the target; nothing was \
                 kept",
                table.name()
            )));
        }
    }
    Ok(())
}

fn report(source: Counts, target: Counts) -> Vec<Copied> {
    let lines = Table::ALL.into_iter().zip(source.into_iter().zip(target));
    let tables = lines.filter(|(table, _)| *table != Table::Links);
    tables.map(|(table, (source, target))| Copied { table: table.name(), source, target }).collect()
}

/// Says which of the two databases is meant.
fn about(store: &dyn Store, error: Error) -> Error {
    let class = if error.is_transient() { crate::StoreClass::Transient } else { crate::StoreClass::Permanent };
    match error.is_schema() {
        true => Error::schema(format!("{}: {error}", store.describe())),
        false => Error::store(COPYING, class, format!("{}: {}", store.describe(), cause(&error))),
    }
}

/// The cause alone: the operation is said once.
fn cause(error: &Error) -> String {
    let text = error.to_string();
    text.strip_prefix(COPYING).and_then(|t| t.strip_prefix(" failed: ")).map_or_else(|| text.clone(), str::to_owned)
}

fn is_same(a: &dyn Store, b: &dyn Store) -> bool {
    (a.url() == b.url() && a.describe() == b.describe()) || is_same_file(a, b)
}

#[cfg(feature = "sqlite")]
fn is_same_file(a: &dyn Store, b: &dyn Store) -> bool {
    let file = |store: &dyn Store| store.as_any().downcast_ref::<super::sqlite::Sqlite>()?.file_identity();
    file(a).is_some_and(|a| file(b) == Some(a))
}

#[cfg(not(feature = "sqlite"))]
fn is_same_file(_: &dyn Store, _: &dyn Store) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_that_differ_are_an_error() {
        assert!(is_whole([1, 0, 2, 0, 0, 0, 0, 0], [1, 0, 2, 0, 0, 0, 0, 0], [1, 0, 2, 0, 0, 0, 0, 0]).is_ok());
        assert!(is_whole([1, 0, 2, 0, 0, 0, 0, 0], [1, 0, 1, 0, 0, 0, 0, 0], [1, 0, 2, 0, 0, 0, 0, 0]).is_err());
        let found = is_whole([1, 0, 2, 0, 0, 0, 0, 0], [1, 0, 2, 0, 0, 0, 0, 0], [1, 0, 1, 0, 0, 0, 0, 0]);
        let error = found.expect_err("one is missing");
        assert!(error.to_string().contains("signals: the source has 2 rows, 2 were written and 1 stand"), "{error}");
    }

    #[test]
    fn a_target_with_rows_says_where_they_stand() {
        assert!(is_empty(Counts::default(), "x").is_ok());
        let error = is_empty([3, 1, 0, 0, 0, 2, 0, 0], "x").expect_err("it has rows").to_string();
        assert!(error.contains("3 in gen_durable, 2 in gen_durable_buckets"), "{error}");
    }
}
