//! A migrated database of either store, and a look at it from outside.

#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::sync::Arc;

use gen_durable::InstanceId;
use gen_durable_runtime::store::{DatabaseOptions, Store};

#[cfg(feature = "postgres")]
use postgres::OnServer;
#[cfg(feature = "sqlite")]
use sqlite::OnFile;
#[cfg(feature = "sqlite")]
pub(crate) use sqlite::connecting;

use crate::{ToSql, Tx};

/// A migrated database of its own, dropped with it, and a plain pool to look at it from outside.
#[allow(missing_debug_implementations)] // a store has none
pub struct Db {
    pub url: String,
    pub store: Arc<dyn Store>,
    outside: Outside,
}

/// What is not the store's.
enum Outside {
    #[cfg(feature = "postgres")]
    Postgres(OnServer),
    #[cfg(feature = "sqlite")]
    Sqlite(OnFile),
}

/// The same call on whichever it is, with its own spelling of the SQL.
macro_rules! outside {
    ($db:expr, $call:ident $(, $sql:expr $(, $more:expr)*)?) => {
        match &$db.outside {
            #[cfg(feature = "postgres")]
            Outside::Postgres(it) => it.$call($(&$sql.postgres() $(, $more)*)?).await,
            #[cfg(feature = "sqlite")]
            Outside::Sqlite(it) => it.$call($(&$sql.sqlite() $(, $more)*)?).await,
        }
    };
}

impl Db {
    /// The same, with the table that the steps of the machines write to.
    pub async fn with_effects(self) -> Self {
        outside!(self, create_effects);
        self
    }

    /// Where the steps write what they did.
    pub fn effects_url(&self) -> String {
        match &self.outside {
            #[cfg(feature = "postgres")]
            Outside::Postgres(_) => self.url.clone(),
            #[cfg(feature = "sqlite")]
            Outside::Sqlite(it) => it.effects_url(),
        }
    }

    /// One number, by SQL.
    pub async fn count(&self, sql: impl ToSql) -> i64 {
        outside!(self, scalar, sql, None)
    }

    /// One number with a fraction, by SQL.
    pub async fn number(&self, sql: impl ToSql) -> f64 {
        outside!(self, scalar, sql, None)
    }

    /// One number, by SQL, of these instances: `= ANY ($1)`.
    pub async fn count_of(&self, sql: impl ToSql, ids: &[InstanceId]) -> i64 {
        outside!(self, scalar, sql, Some(ids))
    }

    /// One number with a fraction, by SQL, of these instances: `= ANY ($1)`.
    pub async fn number_of(&self, sql: impl ToSql, ids: &[InstanceId]) -> f64 {
        outside!(self, scalar, sql, Some(ids))
    }

    /// One text, by SQL.
    pub async fn text(&self, sql: impl ToSql) -> String {
        outside!(self, text, sql)
    }

    /// One JSON value, by SQL: white space is the store's own affair.
    pub async fn json(&self, sql: impl ToSql) -> serde_json::Value {
        serde_json::from_str(&self.text(sql).await).expect("JSON")
    }

    /// The row of an instance and its inbox, as they stand.
    pub async fn row(&self, id: InstanceId) -> String {
        match &self.outside {
            #[cfg(feature = "postgres")]
            Outside::Postgres(it) => it.row(id).await,
            #[cfg(feature = "sqlite")]
            Outside::Sqlite(it) => it.row(id).await,
        }
    }

    /// Runs statements.
    pub async fn run(&self, sql: impl ToSql) {
        outside!(self, run, sql);
    }

    /// A caller's transaction. On SQLite it has the file from its beginning, as the guide tells callers to.
    pub async fn begin(&self) -> Tx {
        outside!(self, begin)
    }

    /// Someone else's transaction, which holds every row of `gen_durable`, or the whole file.
    pub async fn hold(&self) -> Tx {
        let mut tx = self.begin().await;
        if self.store.dialect() == "postgres" {
            tx.run("SELECT 1 FROM gen_durable FOR NO KEY UPDATE").await;
        }
        tx
    }

    /// Connections that are open for the engine: on the server, or by this process on the file.
    pub async fn engines_connections(&self) -> usize {
        outside!(self, connections)
    }

    /// Waits until the one worker on this database hears of what other processes start.
    pub async fn heard(&self) {
        outside!(self, heard);
    }

    /// What only this store can tell of a fault: the server's log, the soundness of the file.
    pub(crate) async fn faults(&self, expected: &[&str]) -> Vec<String> {
        match &self.outside {
            #[cfg(feature = "postgres")]
            Outside::Postgres(it) => it.faults(expected),
            #[cfg(feature = "sqlite")]
            Outside::Sqlite(it) => it.faults(expected).await,
        }
    }

    /// What a process left behind: locks, open transactions.
    pub(crate) async fn is_free(&self) -> bool {
        outside!(self, is_free)
    }
}

/// Small pools: hundreds of tests share one server.
pub fn store_options(url: &str) -> DatabaseOptions {
    DatabaseOptions { pool_size: 6, ..DatabaseOptions::new(url) }
}
