use std::{sync::Arc, time::Duration};

use super::{SchemaName, Store};
use crate::Error;

/// Which database, and how it is used. The URL's scheme chooses the store.
///
/// ```
/// # use gen_durable_runtime::store::DatabaseOptions;
/// let options = DatabaseOptions { pool_size: 5, ..DatabaseOptions::new("postgres://localhost/shop") };
/// assert_eq!(options.schema.as_str(), "public");
/// ```
#[derive(Clone)]
pub struct DatabaseOptions {
    /// `postgres://user@host/database`, or with `?host=/socket/directory`.
    pub url: String,
    /// The schema the tables live in. Default: `public`.
    pub schema: SchemaName,
    /// Connections of this process, without the one that listens. Default: 10; at least 2.
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
        match self.url.split_once("://").map(|(scheme, _)| scheme) {
            #[cfg(feature = "postgres")]
            Some("postgres" | "postgresql") => Ok(Arc::new(super::postgres::Postgres::new(self)?)),
            Some(scheme) => Err(Error::boot(format!(
                "no store for {scheme}:// is built in; this program knows {}",
                if cfg!(feature = "postgres") { "postgres://" } else { "none: enable the feature `postgres`" }
            ))),
            None => Err(Error::boot("the database URL has no scheme; expected postgres://user@host/database")),
        }
    }
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
