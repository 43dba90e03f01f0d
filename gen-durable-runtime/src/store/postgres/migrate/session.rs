use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Postgres, Transaction};

use super::fault::Fault;
use crate::store::SchemaName;

const BEGIN: &str = include_str!("sql/begin.sql");
const LOCK: &str = include_str!("sql/lock.sql");
const QUIET: &str = include_str!("sql/quiet.sql");
const UNQUIET: &str = include_str!("sql/unquiet.sql");

/// A connection of our own: dropping it ends the session, whatever it was doing.
pub(super) async fn connect(options: &PgConnectOptions) -> Result<PgConnection, sqlx::Error> {
    // No cache, and every statement says `persistent(false)`: behind a transaction pooler names would collide.
    options.clone().statement_cache_capacity(0).connect().await
}

/// A transaction that holds the one lock of all migrators of this schema.
///
/// # Errors
/// [`Fault::Busy`] when another holds it.
pub(super) async fn begin_locked<'c>(
    conn: &'c mut PgConnection,
    schema: &SchemaName,
    lock_wait: Duration,
) -> Result<Transaction<'c, Postgres>, Fault> {
    let mut tx = conn.begin_with(BEGIN).await?;
    quiet(&mut tx, lock_wait, true).await?;
    let locked: bool = sqlx::query_scalar(LOCK).persistent(false).bind(schema.as_str()).fetch_one(&mut *tx).await?;
    if locked {
        return Ok(tx);
    }
    tx.rollback().await?;
    Err(Fault::Busy)
}

async fn quiet(conn: &mut PgConnection, lock_wait: Duration, local: bool) -> Result<(), sqlx::Error> {
    let wait = lock_wait.as_millis().to_string();
    sqlx::query(QUIET).persistent(false).bind(wait).bind(local).execute(conn).await.map(drop)
}

/// Runs a statement that refuses a transaction, without the time limits of role and database.
pub(super) async fn execute_alone(conn: &mut PgConnection, schema: &SchemaName, sql: &str) -> Result<(), sqlx::Error> {
    quiet(conn, Duration::ZERO, false).await?;
    let done = execute(conn, schema, sql).await;
    sqlx::query(UNQUIET).persistent(false).execute(conn).await?;
    done
}

/// Runs one statement with the schema filled in.
pub(super) async fn execute(conn: &mut PgConnection, schema: &SchemaName, sql: &str) -> Result<(), sqlx::Error> {
    sqlx::raw_sql(AssertSqlSafe(schema.fill(sql))).execute(conn).await.map(drop)
}
