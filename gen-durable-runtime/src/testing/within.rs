//! A kit inside a transaction that the test has begun: nothing of it is ever committed.

use std::sync::Arc;

use crate::{
    Error,
    client::Client,
    store::{
        Store,
        lent::{Held, Lent},
        sqlite::{Clock, Sqlite},
    },
};

/// A transaction of sqlx that a test lends to a kit; made from it.
#[derive(Debug)]
#[non_exhaustive]
pub enum TestTransaction {
    /// On Postgres.
    #[cfg(feature = "postgres")]
    Postgres(sqlx::Transaction<'static, sqlx::Postgres>),
    /// On SQLite.
    Sqlite(sqlx::Transaction<'static, sqlx::Sqlite>),
}

/// The connection of that transaction, for the test's own statements; the kit waits while it stands.
#[derive(Debug)]
pub struct TestConnection(Connection);

#[derive(Debug)]
enum Connection {
    #[cfg(feature = "postgres")]
    Postgres(Held<sqlx::Postgres>),
    Sqlite(Held<sqlx::Sqlite>),
}

/// What was lent.
#[derive(Debug)]
pub(super) enum Within {
    #[cfg(feature = "postgres")]
    Postgres(Lent<sqlx::Postgres>),
    Sqlite(Lent<sqlx::Sqlite>),
}

impl Within {
    /// A store in this transaction, on the database of `client`, and its clock.
    pub(super) async fn lend(client: &Client, to: TestTransaction) -> Result<(Self, Arc<dyn Store>, Clock), Error> {
        match to {
            #[cfg(feature = "postgres")]
            TestTransaction::Postgres(mut transaction) => {
                use crate::store::postgres::Postgres;
                let store = client.store().as_any().downcast_ref::<Postgres>().ok_or_else(|| other("Postgres"))?;
                // Not behind what the test has written.
                let clock = Clock::standing_at(Postgres::time_in(&mut transaction).await?);
                let lent = Lent::new(transaction);
                Ok((Self::Postgres(lent.clone()), Arc::new(store.lend(lent, clock.clone())), clock))
            }
            TestTransaction::Sqlite(transaction) => {
                let store = client.store().as_any().downcast_ref::<Sqlite>().ok_or_else(|| other("SQLite"))?;
                let (clock, lent) = (Clock::standing_now(), Lent::new(transaction));
                Ok((Self::Sqlite(lent.clone()), Arc::new(store.lend(lent, clock.clone())?), clock))
            }
        }
    }

    pub(super) async fn connection(&self) -> Result<TestConnection, sqlx::Error> {
        Ok(TestConnection(match self {
            #[cfg(feature = "postgres")]
            Self::Postgres(lent) => Connection::Postgres(lent.hold().await?),
            Self::Sqlite(lent) => Connection::Sqlite(lent.hold().await?),
        }))
    }

    pub(super) async fn roll_back(&self) -> Result<(), sqlx::Error> {
        match self {
            #[cfg(feature = "postgres")]
            Self::Postgres(lent) => lent.roll_back().await,
            Self::Sqlite(lent) => lent.roll_back().await,
        }
    }
}

fn other(dialect: &str) -> Error {
    Error::boot(format!("a {dialect} transaction needs a client on {dialect}"))
}

impl TestConnection {
    /// The connection, on Postgres. Its transaction is the kit's to end.
    ///
    /// # Panics
    /// On SQLite.
    #[cfg(feature = "postgres")]
    #[track_caller]
    pub fn postgres(&mut self) -> &mut sqlx::PgConnection {
        match &mut self.0 {
            Connection::Postgres(held) => held.connection(),
            Connection::Sqlite(_) => stop(std::panic::Location::caller(), "SQLite, not on Postgres"),
        }
    }

    /// The connection, on SQLite. Its transaction is the kit's to end.
    ///
    /// # Panics
    /// On Postgres.
    #[track_caller]
    pub fn sqlite(&mut self) -> &mut sqlx::SqliteConnection {
        match &mut self.0 {
            #[cfg(feature = "postgres")]
            Connection::Postgres(_) => stop(std::panic::Location::caller(), "Postgres, not on SQLite"),
            Connection::Sqlite(held) => held.connection(),
        }
    }
}

#[cfg(feature = "postgres")]
fn stop(at: super::report::At, what: &str) -> ! {
    super::report::stop(at, format_args!("the kit's transaction is on {what}"))
}

#[cfg(feature = "postgres")]
impl From<sqlx::Transaction<'static, sqlx::Postgres>> for TestTransaction {
    fn from(transaction: sqlx::Transaction<'static, sqlx::Postgres>) -> Self {
        Self::Postgres(transaction)
    }
}

impl From<sqlx::Transaction<'static, sqlx::Sqlite>> for TestTransaction {
    fn from(transaction: sqlx::Transaction<'static, sqlx::Sqlite>) -> Self {
        Self::Sqlite(transaction)
    }
}
