//! Which failures of Postgres may pass, which mean that another won, and which are final.

use crate::{Error, StoreClass};

pub(super) fn at(operation: &'static str) -> impl FnOnce(sqlx::Error) -> Error {
    move |source| Error::store(operation, class(&source), source)
}

/// No connection: nothing was sent, so the same call may always be made again, whatever the server said.
pub(super) fn no_connection(operation: &'static str) -> impl FnOnce(sqlx::Error) -> Error {
    move |source| match source {
        sqlx::Error::PoolClosed => Error::stopped(),
        source => Error::store(operation, StoreClass::Transient, source),
    }
}

/// A plan or a prepared statement that the schema has outgrown: only a new connection is rid of it.
pub(super) fn spoils_connection(code: Option<&str>) -> bool {
    matches!(code, Some("0A000" | "26000"))
}

/// No answer in time: the connection may be half open.
pub(super) fn timed_out(operation: &'static str) -> Error {
    Error::store(operation, StoreClass::Transient, "the database did not answer in time")
}

/// A lock was not had in the time that the session waits for one.
pub(super) fn is_lock_timeout(error: &Error) -> bool {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<sqlx::Error>());
    let code = source.and_then(sqlx::Error::as_database_error).and_then(|db| db.code());
    code.as_deref() == Some("55P03")
}

fn class(error: &sqlx::Error) -> StoreClass {
    match error {
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::WorkerCrashed
        | sqlx::Error::Protocol(_) => StoreClass::Transient,
        sqlx::Error::Database(db) => db.code().map_or(StoreClass::Permanent, |code| class_of_code(&code)),
        _ => StoreClass::Permanent,
    }
}

/// Classes 08 (connection), 53 (resources), 57P (shut down, starting up), 40 (deadlock, serialization), lock and
/// statement time-outs, a read-only standby after a failover, and a schema change under a cached plan pass.
fn class_of_code(code: &str) -> StoreClass {
    match code {
        "23505" => StoreClass::Conflict,
        "55P03" | "57014" | "25006" | "0A000" | "26000" => StoreClass::Transient,
        c if ["08", "53", "40", "57P"].iter().any(|class| c.starts_with(class)) => StoreClass::Transient,
        _ => StoreClass::Permanent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outages_pass_and_bad_data_does_not() {
        for code in ["08006", "57P01", "57P03", "40P01", "53300", "55P03"] {
            assert_eq!(class_of_code(code), StoreClass::Transient, "{code}");
        }
        assert_eq!(class_of_code("23505"), StoreClass::Conflict);
        for code in ["22P05", "42P01", "42501"] {
            assert_eq!(class_of_code(code), StoreClass::Permanent, "{code}");
        }
    }
}
