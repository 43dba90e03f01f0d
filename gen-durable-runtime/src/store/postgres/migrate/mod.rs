//! Migrations: what stands in the database, and how it comes and goes.
//!
//! There are two parts with a version each. The *seed* is the schema of the Elixir engine, versions 1 to 3, counted
//! in the comment of `gen_durable` as the Elixir migrator does. *Ours* stands on version 3 of the seed and is counted
//! in `gen_durable_meta`. So both migrators can meet on one database.
//!
//! A run is one transaction: a migrator that is killed or cancelled leaves nothing half done. The exception is an
//! index on a large table, which is built concurrently after that transaction; it is not counted but looked for, and
//! whoever migrates next builds it or replaces an INVALID one.
//!
//! | race | settled by |
//! |---|---|
//! | two migrators | a transaction-scoped advisory lock that is polled; the version is read under it |
//! | a migrator that lost its connection but whose statement still runs | the lock lives in the same transaction; a concurrent build shows in `pg_locks` |
//! | a migrator and a live worker | bounded waits for table locks, all taken before the first change, retried |
//! | a migrator and a concurrent index build | the guard of the build is an idle READ COMMITTED transaction, which holds no snapshot |
//!
//! Nothing depends on the session, so this works through a transaction pooler too. A direct connection is still
//! better: only there are the time limits of role and database surely lifted while an index is built concurrently,
//! and only there does a cancelled migrator's connection end at once.

mod change;
mod check;
mod fault;
mod holders;
mod index;
mod installed;
mod patience;
mod plan;
mod report;
mod rewrite;
mod run;
mod script;
mod session;
mod version;

use sqlx::postgres::PgConnectOptions;

pub use check::check;
pub use plan::{MigrateTo, Plan};
pub use report::{Report, Step};
pub use version::{SchemaVersion, Version};

use crate::error::Error;
use crate::store::SchemaName;

/// Brings the schema to what the plan asks for, up or down, and reports what was done.
///
/// It opens one connection of its own, and a second one while it builds an index on a large table. Any number of
/// migrators may run at once: each ends well, the work is done once. Cancelling the future, or killing the process,
/// leaves the schema as it was before the step under way, and no lock once the server has noticed.
///
/// Live workers go on: each wait for a table lock is short, and retried until [`Plan::patience`] ends.
///
/// ```no_run
/// # use gen_durable_runtime::store::SchemaName;
/// # use gen_durable_runtime::store::postgres::migrate::{Plan, migrate};
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let report = migrate(&"postgres://localhost/shop".parse()?, &SchemaName::default(), &Plan::latest()).await?;
/// print!("{report}");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Invalid input when the plan names a version this program does not know. A schema error, with what to do, when the
/// schema is newer than this program, the role lacks a right, a name is taken by a table of the host, or the
/// rewrite of a large table was not allowed. A transient error when others held the locks for longer than
/// [`Plan::patience`], or the connection broke.
pub async fn migrate(options: &PgConnectOptions, schema: &SchemaName, plan: &Plan) -> Result<Report, Error> {
    run::Run::open(options, schema, plan).await?.finish().await
}
