/// A connection of the caller's, in a transaction: what [`Client::in_transaction`](crate::client::Client::in_transaction)
/// works on. Made from `&mut` of a transaction, a connection or a pooled connection of sqlx.
#[derive(Debug)]
#[non_exhaustive]
pub enum CallersConnection<'t> {
    /// On Postgres.
    #[cfg(feature = "postgres")]
    Postgres(&'t mut sqlx::PgConnection),
    /// On SQLite.
    #[cfg(feature = "sqlite")]
    Sqlite(&'t mut sqlx::SqliteConnection),
}

macro_rules! from_connections {
    ($feature:literal, $variant:ident, $database:ty, $connection:ty) => {
        #[cfg(feature = $feature)]
        impl<'t> From<&'t mut $connection> for CallersConnection<'t> {
            fn from(connection: &'t mut $connection) -> Self {
                Self::$variant(connection)
            }
        }

        #[cfg(feature = $feature)]
        impl<'t> From<&'t mut sqlx::Transaction<'_, $database>> for CallersConnection<'t> {
            fn from(transaction: &'t mut sqlx::Transaction<'_, $database>) -> Self {
                Self::$variant(transaction)
            }
        }

        #[cfg(feature = $feature)]
        impl<'t> From<&'t mut sqlx::pool::PoolConnection<$database>> for CallersConnection<'t> {
            fn from(connection: &'t mut sqlx::pool::PoolConnection<$database>) -> Self {
                Self::$variant(connection)
            }
        }
    };
}

from_connections!("postgres", Postgres, sqlx::Postgres, sqlx::PgConnection);
from_connections!("sqlite", Sqlite, sqlx::Sqlite, sqlx::SqliteConnection);
