//! Indexes on large tables, built while others write.

use sqlx::postgres::PgConnection;
use sqlx::{Connection, query_as};

use super::fault::Fault;
use super::installed::Installed;
use super::report::Step;
use super::run::Run;
use super::script::Index;
use super::session::{begin_locked, connect, execute_alone};
use crate::error::{Error, StoreClass};
use crate::store::SchemaName;

const INDEX_STATE: &str = include_str!("sql/index_state.sql");

/// What became of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IndexState {
    Absent,
    Valid,
    /// A build failed, or is under way.
    Invalid {
        /// Someone holds the lock of a build on the table.
        under_way: bool,
    },
}

impl IndexState {
    pub(super) async fn read(conn: &mut PgConnection, schema: &SchemaName, index: &Index) -> Result<Self, sqlx::Error> {
        let query = query_as(INDEX_STATE).persistent(false).bind(schema.as_str()).bind(index.table).bind(index.name);
        let row: Option<(bool, bool, bool)> = query.fetch_optional(conn).await?;
        Ok(match row {
            None | Some((false, ..)) => Self::Absent,
            Some((true, true, _)) => Self::Valid,
            Some((true, false, under_way)) => Self::Invalid { under_way },
        })
    }
}

/// Builds the index unless it stands.
///
/// The migrators' lock is held by a second connection: a concurrent build cannot run in a transaction, and a session
/// lock would stay behind in a pooler. That guard is idle and READ COMMITTED, so the build does not wait for it.
/// When this future is dropped the guard goes at once while the server may finish the build; whoever comes next sees
/// it under way.
pub(super) async fn ensure(run: &mut Run<'_>, index: &Index) -> Result<(), Fault> {
    // In a transaction, as all that is asked here: a pooler could answer from two connections.
    let mut look = run.conn.begin().await?;
    let state = IndexState::read(&mut look, run.schema, index).await?;
    look.rollback().await?;
    if state == IndexState::Valid {
        return Ok(());
    }
    let mut guard = connect(run.options).await?;
    let mut tx = begin_locked(&mut guard, run.schema, run.plan.lock_wait).await?;
    let installed = Installed::read(&mut tx, run.schema).await?;
    if installed.meta(&mut tx, run.schema).await?.version < index.own {
        // Someone took the version down between our transaction and now: look again.
        return Err(Fault::Busy);
    }
    match IndexState::read(&mut tx, run.schema, index).await? {
        IndexState::Valid => {}
        IndexState::Invalid { under_way: true } => return Err(Fault::Busy),
        IndexState::Invalid { under_way: false } => {
            alone(run, index, index.drop_concurrently).await?;
            run.note(Step::IndexDropped(index.name));
            build(run, index).await?;
        }
        IndexState::Absent => build(run, index).await?,
    }
    tx.commit().await?;
    Ok(())
}

async fn build(run: &mut Run<'_>, index: &Index) -> Result<(), Fault> {
    alone(run, index, index.create_concurrently).await?;
    run.note(Step::IndexBuilt(index.name));
    Ok(())
}

/// Runs a statement that waits for every older transaction but blocks nobody, as long as the patience lasts.
async fn alone(run: &mut Run<'_>, index: &Index, sql: &str) -> Result<(), Fault> {
    let statement = execute_alone(&mut run.conn, run.schema, sql);
    match tokio::time::timeout(run.patience.left(), statement).await {
        Ok(done) => Ok(done?),
        Err(_) => Err(Fault::Fatal(Error::store(
            "migrate",
            StoreClass::Transient,
            format!(
                "the index {} waits for transactions that were open before it and still are, for {:?}; the server goes \
                 on with it, run `migrate` again later",
                index.name, run.plan.patience
            ),
        ))),
    }
}
