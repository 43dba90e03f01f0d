use std::time::Duration;

use super::version::{SEED_LATEST, SchemaVersion};
use crate::error::Error;
use crate::model::Invalid;

/// How far to migrate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MigrateTo {
    /// The newest version this program knows. A newer schema that still serves this program is left alone.
    Latest,
    /// A version of the Elixir engine's schema, 1 to 3, without our part; 0 takes everything down.
    Seed(u32),
}

/// What a migration may do.
///
/// ```
/// # use gen_durable_runtime::store::postgres::migrate::Plan;
/// let up = Plan::latest().allow_rewrite(true);
/// let down = Plan::to_seed(0);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Plan {
    /// Where to go.
    pub to: MigrateTo,
    /// Whether a table above 1 000 000 rows may be rewritten, which stops all workers meanwhile. Default: no.
    pub allow_rewrite: bool,
    /// How long to wait in all for other migrators and for table locks. Default: 15 minutes.
    pub patience: Duration,
    /// How long one wait for a table lock may hold up live workers. Default: 200 ms.
    pub lock_wait: Duration,
    pub(super) rewrite_rows_max: i64,
    pub(super) small_table_bytes: i64,
}

impl Plan {
    /// To the newest version.
    pub fn latest() -> Self {
        Self::new(MigrateTo::Latest)
    }

    /// To a version of the seed, without our part; 0 takes everything down, and the schema if a migrator made it.
    pub fn to_seed(version: u32) -> Self {
        Self::new(MigrateTo::Seed(version))
    }

    /// To there.
    pub fn new(to: MigrateTo) -> Self {
        Self {
            to,
            allow_rewrite: false,
            patience: Duration::from_secs(15 * 60),
            // Longer than a worker's transaction; well below the server's deadlock_timeout (1 s), so that in a
            // deadlock it is the migrator that gives way.
            lock_wait: Duration::from_millis(200),
            rewrite_rows_max: 1_000_000,
            small_table_bytes: 8 << 20,
        }
    }

    /// Sets [`Plan::allow_rewrite`].
    pub fn allow_rewrite(mut self, allow: bool) -> Self {
        self.allow_rewrite = allow;
        self
    }

    /// Sets [`Plan::patience`].
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sets [`Plan::lock_wait`]; at least 1 ms.
    pub fn lock_wait(mut self, wait: Duration) -> Self {
        self.lock_wait = wait.max(Duration::from_millis(1));
        self
    }

    /// Lowers the sizes from which a table counts as large, so that a test needs no large table.
    #[doc(hidden)]
    pub fn large_from(mut self, rewrite_rows_max: i64, small_table_bytes: i64) -> Self {
        self.rewrite_rows_max = rewrite_rows_max;
        self.small_table_bytes = small_table_bytes;
        self
    }

    /// Both versions to arrive at.
    pub(super) fn target(&self) -> Result<SchemaVersion, Error> {
        match self.to {
            MigrateTo::Latest => Ok(SchemaVersion::LATEST),
            MigrateTo::Seed(seed) if seed <= SEED_LATEST => Ok(SchemaVersion { seed, own: 0 }),
            MigrateTo::Seed(seed) => {
                Err(Invalid::new("to", format!("is {seed}: this program knows the versions 0 to {SEED_LATEST}")).into())
            }
        }
    }
}
