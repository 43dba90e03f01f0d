//! A transaction that is not the engine's.

use gen_durable_runtime::client::CallersConnection;
use sqlx::{AssertSqlSafe, Executor};

use crate::ToSql;

/// Rolled back when it is dropped.
#[derive(Debug)]
pub enum Tx {
    #[cfg(feature = "postgres")]
    Postgres(sqlx::Transaction<'static, sqlx::Postgres>),
    #[cfg(feature = "sqlite")]
    Sqlite(sqlx::Transaction<'static, sqlx::Sqlite>),
}

/// The same on either.
macro_rules! with {
    ($it:expr, $tx:ident => $do:expr) => {
        match $it {
            #[cfg(feature = "postgres")]
            Tx::Postgres($tx) => $do,
            #[cfg(feature = "sqlite")]
            Tx::Sqlite($tx) => $do,
        }
    };
}

impl Tx {
    /// Runs statements in it.
    pub async fn run(&mut self, sql: impl ToSql) {
        let sql = match self {
            #[cfg(feature = "postgres")]
            Self::Postgres(_) => sql.postgres(),
            #[cfg(feature = "sqlite")]
            Self::Sqlite(_) => sql.sqlite(),
        };
        with!(self, tx => drop(tx.execute(sqlx::raw_sql(AssertSqlSafe(&*sql))).await.expect("runs")));
    }

    /// As a client takes it.
    pub fn connection(&mut self) -> CallersConnection<'_> {
        with!(self, tx => tx.into())
    }

    pub async fn commit(self) {
        with!(self, tx => tx.commit().await.expect("commits"));
    }

    pub async fn rollback(self) {
        with!(self, tx => tx.rollback().await.expect("rolls back"));
    }
}
