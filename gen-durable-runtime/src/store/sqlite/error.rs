//! Which failures of SQLite may pass, which mean that another won, and which are final.

use crate::{Error, StoreClass};

pub(super) fn at(operation: &'static str) -> impl FnOnce(sqlx::Error) -> Error {
    move |source| match (class(&source), primary(&source)) {
        _ if matches!(source, sqlx::Error::PoolClosed) => Error::stopped(),
        (class, Some(code)) => Error::store(operation, class, hint(code, &source)),
        (class, None) => Error::store(operation, class, source),
    }
}

/// Another process writes.
pub(super) fn is_busy(error: &sqlx::Error) -> bool {
    matches!(primary(error), Some(BUSY | LOCKED))
}

pub(super) fn timed_out(operation: &'static str) -> Error {
    Error::store(operation, StoreClass::Transient, "the database file did not answer in time")
}

pub(super) fn locked(operation: &'static str) -> Error {
    Error::store(operation, StoreClass::Transient, "another process holds the write lock of the database file")
}

const BUSY: u32 = 5;
const LOCKED: u32 = 6;
const READONLY: u32 = 8;
const IOERR: u32 = 10;
const CORRUPT: u32 = 11;
const FULL: u32 = 13;
const CANTOPEN: u32 = 14;
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
/// kept and tried again. 17 is a schema change under a cached statement, 7 memory, 15 the lock protocol of the WAL.
fn class_of_code(code: u32) -> StoreClass {
    match (code, code & 0xff) {
        // A unique index, or a primary key.
        (2067 | 1555, _) => StoreClass::Conflict,
        (_, BUSY | LOCKED | READONLY | IOERR | FULL | CANTOPEN | 7 | 9 | 15 | 17) => StoreClass::Transient,
        _ => StoreClass::Permanent,
    }
}

fn hint(code: u32, source: &sqlx::Error) -> String {
    let said = source.as_database_error().map_or_else(|| source.to_string(), |e| e.message().to_owned());
    match code {
        BUSY | LOCKED => format!("another process holds the database file ({said})"),
        READONLY => format!("the database file, or its directory, cannot be written by this user ({said})"),
        FULL => format!("no space is left where the database file is ({said})"),
        CANTOPEN => format!("the database file, or a file beside it, cannot be opened by this user ({said})"),
        NOTADB => format!("the file is no SQLite database ({said})"),
        CORRUPT => format!("the database file is damaged ({said})"),
        _ => said,
    }
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
