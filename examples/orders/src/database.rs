//! Either database. A service that has decided for one takes its pool, and needs none of this.

use gen_durable::{CallersConnection, Client, StepError, Tx};
use sqlx::{PgConnection, PgPool, Postgres, Sqlite, SqliteConnection, SqlitePool};

#[derive(Debug, Clone)]
pub enum Database {
    Postgres(PgPool),
    Sqlite(SqlitePool),
}

/// A transaction of the service. Rolled back when it is dropped.
#[derive(Debug)]
pub enum Transaction {
    Postgres(sqlx::Transaction<'static, Postgres>),
    Sqlite(sqlx::Transaction<'static, Sqlite>),
}

/// A connection in a transaction, the service's or the engine's.
#[derive(Debug)]
pub enum Connection<'t> {
    Postgres(&'t mut PgConnection),
    Sqlite(&'t mut SqliteConnection),
}

/// The same on either: both understand the service's statements.
macro_rules! on {
    ($kind:ident, $it:expr, $at:ident => $do:expr) => {
        match $it {
            $crate::database::$kind::Postgres($at) => $do,
            $crate::database::$kind::Sqlite($at) => $do,
        }
    };
}
pub(crate) use on;

impl Database {
    /// The one that the engine works on.
    pub async fn connect(client: &Client) -> Result<Self, sqlx::Error> {
        match client.url().starts_with("sqlite:") {
            true => Ok(Self::Sqlite(SqlitePool::connect(client.url()).await?)),
            false => Ok(Self::Postgres(PgPool::connect(client.url()).await?)),
        }
    }

    /// Makes the tables that are missing: they alone are written differently.
    pub async fn make_tables(&self) -> Result<(), sqlx::Error> {
        let tables = match self {
            Self::Postgres(_) => include_str!("sql/tables.postgres.sql"),
            Self::Sqlite(_) => include_str!("sql/tables.sqlite.sql"),
        };
        on!(Database, self, pool => sqlx::raw_sql(tables).execute(pool).await.map(drop))
    }

    pub async fn begin(&self) -> Result<Transaction, sqlx::Error> {
        match self {
            Self::Postgres(pool) => pool.begin().await.map(Transaction::Postgres),
            // With its write lock from the beginning: one that reads first may be refused its first write.
            Self::Sqlite(pool) => pool.begin_with("BEGIN IMMEDIATE").await.map(Transaction::Sqlite),
        }
    }

    pub async fn close(&self) {
        on!(Database, self, pool => pool.close().await);
    }
}

impl Transaction {
    pub fn connection(&mut self) -> Connection<'_> {
        match self {
            Self::Postgres(tx) => Connection::Postgres(tx),
            Self::Sqlite(tx) => Connection::Sqlite(tx),
        }
    }

    pub async fn commit(self) -> Result<(), sqlx::Error> {
        on!(Transaction, self, tx => tx.commit().await)
    }
}

/// As `client.in_transaction` takes it.
impl<'t> From<&'t mut Transaction> for CallersConnection<'t> {
    fn from(transaction: &'t mut Transaction) -> Self {
        on!(Transaction, transaction, tx => tx.into())
    }
}

impl<'t> Connection<'t> {
    /// That of the transaction which commits an outcome.
    pub fn of(tx: &'t mut Tx<'_>) -> Result<Self, StepError> {
        match tx.postgres().is_ok() {
            true => tx.postgres().map(Self::Postgres),
            false => tx.sqlite().map(Self::Sqlite),
        }
    }
}
