use std::{sync::Arc, time::Duration};

use super::{SchemaName, Store};
use crate::Error;

/// Which database, and how it is used. The URL's scheme chooses the store.
///
/// ```
/// # use gen_durable_runtime::store::DatabaseOptions;
/// let options = DatabaseOptions { pool_size: 5, ..DatabaseOptions::new("postgres://localhost/shop") };
/// assert_eq!(options.schema.as_str(), "public");
/// let embedded = DatabaseOptions::new("sqlite://shop.db");
/// ```
#[derive(Clone)]
pub struct DatabaseOptions {
    /// `postgres://user@host/database`, or with `?host=/socket/directory`; `sqlite://file.db`, or
    /// `sqlite:///absolute/file.db`, or with `?synchronous=normal`, which gives up the last commits in a power cut
    /// for a higher rate.
    pub url: String,
    /// The schema the tables live in. Default: `public`; SQLite has no other.
    pub schema: SchemaName,
    /// Connections of this process, without the one that listens. Default: 10; at least 2. On SQLite those that read:
    /// one more writes.
    pub pool_size: u32,
    /// The URL leads to a transaction pooler such as pgbouncer: no named statements, no session settings, no LISTEN;
    /// wake-ups come by the poll. Default: no.
    pub transaction_pooler: bool,
    /// How long one call may take before its connection is given up. Default: 30 s.
    pub call_timeout: Duration,
}

impl DatabaseOptions {
    /// The defaults, for this URL.
    pub fn new(url: impl Into<String>) -> Self {
        let (pool_size, call_timeout) = (10, Duration::from_secs(30));
        Self { url: url.into(), schema: SchemaName::default(), pool_size, transaction_pooler: false, call_timeout }
    }

    /// Opens the store; connects with the first call.
    ///
    /// # Errors
    /// When the URL cannot be read, or names a store that is not built in.
    pub fn open(self) -> Result<Arc<dyn Store>, Error> {
        match self.url.split_once(':').map(|(scheme, _)| scheme) {
            Some("postgres" | "postgresql") => postgres(self),
            Some("sqlite") => sqlite(self),
            _ => Err(Error::boot(
                "the database URL names no store; expected postgres://user@host/database or sqlite://file.db",
            )),
        }
    }
}

#[cfg(feature = "postgres")]
fn postgres(options: DatabaseOptions) -> Result<Arc<dyn Store>, Error> {
    Ok(Arc::new(super::postgres::Postgres::new(options)?))
}

#[cfg(not(feature = "postgres"))]
fn postgres(_: DatabaseOptions) -> Result<Arc<dyn Store>, Error> {
    Err(Error::boot("this program was built without the Postgres store: enable the feature `postgres` of gen-durable"))
}

#[cfg(feature = "sqlite")]
fn sqlite(options: DatabaseOptions) -> Result<Arc<dyn Store>, Error> {
    Ok(Arc::new(super::sqlite::Sqlite::new(options)?))
}

#[cfg(not(feature = "sqlite"))]
fn sqlite(_: DatabaseOptions) -> Result<Arc<dyn Store>, Error> {
    Err(Error::boot("this program was built without the SQLite store: enable the feature `sqlite` of gen-durable"))
}

/// Without the URL: it may hold a password.
impl std::fmt::Debug for DatabaseOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { url: _, schema, pool_size, transaction_pooler, call_timeout } = self;
        let mut out = f.debug_struct("DatabaseOptions");
        out.field("schema", schema).field("pool_size", pool_size).field("transaction_pooler", transaction_pooler);
        out.field("call_timeout", call_timeout).finish_non_exhaustive()
    }
}
