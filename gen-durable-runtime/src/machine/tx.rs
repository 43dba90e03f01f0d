use std::{fmt, future::Future, marker::PhantomData, pin::Pin};

use super::StepError;

/// The transaction in which an outcome is committed: what [`Outcome::in_transaction`](super::Outcome::in_transaction)
/// hands to its closure. What is written here and the transition are there together, or neither is.
pub struct Tx<'t> {
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    connection: Connection<'t>,
    _connection: PhantomData<&'t mut ()>,
}

#[cfg(any(feature = "postgres", feature = "sqlite"))]
enum Connection<'t> {
    #[cfg(feature = "postgres")]
    Postgres(&'t mut sqlx::PgConnection),
    #[cfg(feature = "sqlite")]
    Sqlite(&'t mut sqlx::SqliteConnection),
}

impl<'t> Tx<'t> {
    /// On Postgres.
    #[cfg(feature = "postgres")]
    pub fn on_postgres(connection: &'t mut sqlx::PgConnection) -> Self {
        Self { connection: Connection::Postgres(connection), _connection: PhantomData }
    }

    /// On SQLite.
    #[cfg(feature = "sqlite")]
    pub fn on_sqlite(connection: &'t mut sqlx::SqliteConnection) -> Self {
        Self { connection: Connection::Sqlite(connection), _connection: PhantomData }
    }

    /// The connection, on Postgres. Its transaction is not the closure's to end.
    ///
    /// # Errors
    /// On another store; a machine that needs this one says `store = "postgres"`.
    #[cfg(feature = "postgres")]
    pub fn postgres(&mut self) -> Result<&mut sqlx::PgConnection, StepError> {
        match &mut self.connection {
            Connection::Postgres(connection) => Ok(connection),
            #[cfg(feature = "sqlite")]
            Connection::Sqlite(_) => Err(StepError::new("this transaction is on SQLite, not on Postgres").permanent()),
        }
    }

    /// The connection, on SQLite. Its transaction is not the closure's to end; it holds the file's write lock.
    ///
    /// # Errors
    /// On another store; a machine that needs this one says `store = "sqlite"`.
    #[cfg(feature = "sqlite")]
    pub fn sqlite(&mut self) -> Result<&mut sqlx::SqliteConnection, StepError> {
        match &mut self.connection {
            Connection::Sqlite(connection) => Ok(connection),
            #[cfg(feature = "postgres")]
            Connection::Postgres(_) => {
                Err(StepError::new("this transaction is on Postgres, not on SQLite").permanent())
            }
        }
    }
}

impl fmt::Debug for Tx<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tx")
    }
}

/// What the closure of an [`Outcome::in_transaction`](super::Outcome::in_transaction) returns.
pub type TxFuture<'t> = Pin<Box<dyn Future<Output = Result<(), StepError>> + Send + 't>>;

type Closure = Box<dyn for<'t> Fn(Tx<'t>) -> TxFuture<'t> + Send + Sync>;

/// Such a closure, as a store finds it among the effects of an outcome.
pub struct TxWork(Closure);

impl TxWork {
    pub(super) fn new(work: impl for<'t> Fn(Tx<'t>) -> TxFuture<'t> + Send + Sync + 'static) -> Self {
        Self(Box::new(work))
    }

    /// Runs it.
    pub fn run<'t>(&self, tx: Tx<'t>) -> TxFuture<'t> {
        (self.0)(tx)
    }
}

impl fmt::Debug for TxWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TxWork")
    }
}
