use super::installed::Failed;
use crate::error::{Error, StoreClass};

/// Why an attempt ended, as far as the run must tell it apart.
#[derive(Debug)]
pub(super) enum Fault {
    /// Another migrator is at work, or the build of one that went is still under way.
    Busy,
    /// A live session kept a table lock for longer than one wait.
    Locked,
    /// Something was made under our feet, or a name is taken by the host.
    Collision(sqlx::Error),
    /// No use in trying again.
    Fatal(Error),
}

impl From<sqlx::Error> for Fault {
    fn from(error: sqlx::Error) -> Self {
        match sqlstate(&error).as_deref() {
            // lock_not_available, deadlock_detected
            Some("55P03" | "40P01") => Self::Locked,
            // unique_violation (of a system catalog), duplicate schema, table, object
            Some("23505" | "42P06" | "42P07" | "42710") => Self::Collision(error),
            _ => Self::Fatal(explain(error)),
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Fatal(error)
    }
}

impl From<Failed> for Fault {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Driver(error) => error.into(),
            Failed::Told(error) => error.into(),
        }
    }
}

fn sqlstate(error: &sqlx::Error) -> Option<String> {
    error.as_database_error()?.code().map(Into::into)
}

/// The error for the caller.
pub(super) fn explain(error: sqlx::Error) -> Error {
    let code = sqlstate(&error).unwrap_or_default();
    match code.as_str() {
        "42501" => Error::schema(format!(
            "this role may not migrate: {}; run `migrate` as the owner of the tables, with CREATE on the schema \
             (on the database, if the schema is absent)",
            text(&error)
        )),
        "23505" | "42P06" | "42P07" | "42710" => Error::schema(format!(
            "a name that gen-durable needs is taken: {}; choose another schema or rename what stands there",
            text(&error)
        )),
        "2BP01" => Error::schema(format!(
            "something of the host stands on the tables: {}; drop it first, gen-durable removes only what it made",
            text(&error)
        )),
        code => Error::store("migrate", class(code, &error), error),
    }
}

fn class(code: &str, error: &sqlx::Error) -> StoreClass {
    // Connection faults, no resources, operator intervention, rolled back by a conflict, lock not available.
    let transient = ["08", "53", "57P", "40", "55P03"].iter().any(|prefix| code.starts_with(prefix));
    let lost = matches!(error, sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::WorkerCrashed);
    if transient || lost { StoreClass::Transient } else { StoreClass::Permanent }
}

/// The server's words, without the driver's frame.
fn text(error: &sqlx::Error) -> String {
    error.as_database_error().map_or_else(|| error.to_string(), |e| e.message().to_owned())
}
