//! Which failures of SQLite may pass, which mean that another won, and which are final.

use super::file::File;
use crate::{Error, StoreClass};

pub(super) fn at(operation: &'static str) -> impl FnOnce(sqlx::Error) -> Error {
    move |source| match source {
        sqlx::Error::PoolClosed => Error::stopped(),
        source => Error::store(operation, class(&source), source),
    }
}

/// The same, in words, where it is about the file.
pub(super) fn of(operation: &'static str, file: &File) -> impl FnOnce(sqlx::Error) -> Error {
    move |source| match hint(&source, file) {
        Some(hint) => Error::store(operation, class(&source), hint),
        None => at(operation)(source),
    }
}

/// Another connection writes.
pub(super) fn is_busy(error: &sqlx::Error) -> bool {
    matches!(primary(error), Some(BUSY | LOCKED))
}

/// Not about the statement: the disk, the file, a right.
pub(super) fn is_of_the_file(error: &sqlx::Error) -> bool {
    matches!(primary(error), Some(READONLY | IOERR | CORRUPT | FULL | CANTOPEN | NOTADB | NOMEM | PROTOCOL))
}

pub(super) fn timed_out(operation: &'static str, file: &File) -> Error {
    Error::store(operation, StoreClass::Transient, format!("the database file {file} did not answer in time"))
}

pub(super) fn locked(operation: &'static str, file: &File) -> Error {
    let text = format!("others held the write lock of the database file {file} for longer than a call may take");
    Error::store(operation, StoreClass::Transient, text)
}

pub(super) fn moved(operation: &'static str, file: &File) -> Error {
    let text = format!(
        "the database file {file} was removed or replaced while it was open: put it back, or start this program again"
    );
    Error::store(operation, StoreClass::Transient, text)
}

pub(super) fn lost_its_log(operation: &'static str, file: &File) -> Error {
    let text = format!(
        "the -wal beside the database file {file} was removed or replaced while it was open; what it held stands in the \
         file: start all programs on it again"
    );
    Error::store(operation, StoreClass::Transient, text)
}

const BUSY: u32 = 5;
const LOCKED: u32 = 6;
const NOMEM: u32 = 7;
const READONLY: u32 = 8;
const IOERR: u32 = 10;
const CORRUPT: u32 = 11;
const FULL: u32 = 13;
const CANTOPEN: u32 = 14;
const PROTOCOL: u32 = 15;
const NOTADB: u32 = 26;

/// The low byte of SQLite's result code; the rest is detail.
pub(super) fn primary(error: &sqlx::Error) -> Option<u32> {
    code(error).map(|code| code & 0xff)
}

fn code(error: &sqlx::Error) -> Option<u32> {
    error.as_database_error()?.code()?.parse().ok()
}

fn class(error: &sqlx::Error) -> StoreClass {
    match error {
        sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::WorkerCrashed => StoreClass::Transient,
        sqlx::Error::Database(_) => code(error).map_or(StoreClass::Permanent, class_of_code),
        _ => StoreClass::Permanent,
    }
}

/// Locks, a full or failing disk and a file that cannot be opened or written now may pass: what is not written yet is
/// kept and tried again. 9 is an interrupt, 17 a schema change under a cached statement.
fn class_of_code(code: u32) -> StoreClass {
    match (code, code & 0xff) {
        // A unique index, or a primary key.
        (2067 | 1555, _) => StoreClass::Conflict,
        (_, BUSY | LOCKED | NOMEM | READONLY | IOERR | FULL | CANTOPEN | PROTOCOL | 9 | 17) => StoreClass::Transient,
        _ => StoreClass::Permanent,
    }
}

fn hint(source: &sqlx::Error, file: &File) -> Option<String> {
    let said = source.as_database_error()?.message();
    Some(match primary(source)? {
        BUSY | LOCKED => format!("another connection holds the database file {file} ({said})"),
        READONLY => format!(
            "this user cannot write the database file {file}, its directory, or the -wal and -shm beside it ({said})"
        ),
        IOERR => format!("the disk of the database file {file} is full, or fails ({said})"),
        FULL => format!("no space is left for the database file {file} ({said})"),
        CANTOPEN => format!("the database file {file} cannot be opened: {} ({said})", file.obstacle()),
        NOTADB => format!("{file} is no SQLite database: move it away, or name another file ({said})"),
        CORRUPT => format!("the database file {file} is damaged: restore it from a copy ({said})"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_and_a_lock_pass_and_bad_data_does_not() {
        // BUSY_SNAPSHOT, IOERR_FSYNC, READONLY_DBMOVED.
        for code in [5, 517, 13, 1034, 1032] {
            assert_eq!(class_of_code(code), StoreClass::Transient, "{code}");
        }
        assert_eq!(class_of_code(2067), StoreClass::Conflict);
        // CONSTRAINT_CHECK, NOTADB, MISMATCH.
        for code in [275, 26, 20] {
            assert_eq!(class_of_code(code), StoreClass::Permanent, "{code}");
        }
    }
}
