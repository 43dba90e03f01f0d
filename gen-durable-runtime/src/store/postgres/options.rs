//! From options to a pool of connections.

use std::{str::FromStr, time::Duration};

use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};

use crate::{Error, StoreClass, store::DatabaseOptions};

impl DatabaseOptions {
    pub(super) fn connect(&self) -> Result<PgConnectOptions, Error> {
        let options = PgConnectOptions::from_str(&self.url)
            .map_err(|e| Error::store("reading the database URL", StoreClass::Permanent, e))?;
        Ok(options.application_name("gen-durable"))
    }

    /// The pool of our own statements.
    ///
    /// Generic plans and no `jit`: custom plans at batch 1,000 reach a third of the rate, and `jit` compiles a claim
    /// for 300 ms. No sequential scans: a plan cached while a table is small must still serve when it is large.
    pub(super) fn pool(&self) -> Result<PgPool, Error> {
        let mut options = self.connect()?;
        // A call that we gave up leaves its socket, but the server goes on waiting for a row's lock: it must give up
        // first.
        let limit = format!("{}ms", self.call_timeout.mul_f64(0.9).as_millis().clamp(1, 1 << 30));
        if !self.transaction_pooler {
            options = options.options([
                ("default_transaction_isolation", "read committed"),
                ("default_transaction_read_only", "off"),
                ("synchronous_commit", "on"),
                ("lock_timeout", &limit),
                ("statement_timeout", &limit),
                ("plan_cache_mode", "force_generic_plan"),
                ("jit", "off"),
                ("enable_seqscan", "off"),
                ("idle_in_transaction_session_timeout", "60s"),
            ]);
        }
        Ok(self.sized(self.pool_size.max(2)).connect_lazy_with(options))
    }

    fn sized(&self, size: u32) -> PgPoolOptions {
        PgPoolOptions::new()
            .max_connections(size)
            .acquire_timeout(self.call_timeout)
            // A ping costs a round trip: only for a connection that was idle, which an outage may have broken.
            .test_before_acquire(false)
            .before_acquire(|connection, meta| {
                Box::pin(async move {
                    if meta.idle_for < Duration::from_secs(1) {
                        return Ok(true);
                    }
                    let ping = sqlx::Connection::ping(connection);
                    Ok(tokio::time::timeout(Duration::from_secs(5), ping).await.is_ok_and(|p| p.is_ok()))
                })
            })
    }
}
