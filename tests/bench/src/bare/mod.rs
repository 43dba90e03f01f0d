//! The limits: loops of plain statements that make the same row changes, without an engine.

mod inserts;
mod signals;

use futures_util::future::try_join_all;
use sqlx::{Connection, PgConnection, PgPool, Row};

use crate::Fault;

pub use inserts::{in_bulk, singly};
pub use signals::{deliver, deliver_singly};

/// How a bare loop works.
#[derive(Debug, Clone, Copy)]
pub struct Loop {
    pub connections: usize,
    pub batch: usize,
    /// It writes lines of history as well.
    pub history: bool,
    /// The end of a batch and the claim of the next one are one statement.
    pub fused: bool,
}

impl Loop {
    /// On two connections, plain, without a history: the limit of an engine.
    pub fn of(batch: usize) -> Self {
        Self { connections: 2, batch, history: false, fused: false }
    }

    fn done(&self) -> &'static str {
        if self.history { include_str!("sql/done.sql") } else { include_str!("sql/done_plain.sql") }
    }

    fn on(&self) -> &'static str {
        if self.history { include_str!("sql/in_place.sql") } else { include_str!("sql/in_place_plain.sql") }
    }
}

/// Claims and ends batches until nothing is left.
pub async fn drain(pool: &PgPool, how: Loop) -> Result<(), Fault> {
    each(pool, how.connections, async move |c, token| {
        let mut ids = claim(c, how.batch, token).await?;
        while !ids.is_empty() {
            ids = if how.fused { fused(c, how.batch, token, &ids).await? } else { next(c, how, token, &ids).await? };
        }
        Ok(())
    })
    .await
}

async fn next(c: &mut PgConnection, how: Loop, token: &str, ids: &[i64]) -> Result<Vec<i64>, Fault> {
    sqlx::query(how.done()).bind(ids).bind(token).fetch_all(&mut *c).await?;
    claim(c, how.batch, token).await
}

/// The same with `steps - 1` updates in place before the end.
pub async fn chain(pool: &PgPool, how: Loop, steps: usize) -> Result<(), Fault> {
    each(pool, how.connections, async move |c, token| {
        loop {
            let ids = claim(c, how.batch, token).await?;
            if ids.is_empty() {
                return Ok(());
            }
            for left in (0..steps - 1).rev() {
                let states = vec![format!("{{\"left\":{left}}}"); ids.len()];
                sqlx::query(how.on()).bind(&ids).bind(token).bind(&states).fetch_all(&mut *c).await?;
            }
            sqlx::query(how.done()).bind(&ids).bind(token).fetch_all(&mut *c).await?;
        }
    })
    .await
}

/// The same with every step back in line: rows end when their state says so.
pub async fn requeued(pool: &PgPool, how: Loop) -> Result<(), Fault> {
    each(pool, how.connections, async move |c, token| {
        loop {
            let ids = claim(c, how.batch, token).await?;
            if ids.is_empty() {
                return Ok(());
            }
            sqlx::query(include_str!("sql/requeue.sql")).bind(&ids).bind(token).fetch_all(&mut *c).await?;
        }
    })
    .await
}

async fn claim(c: &mut PgConnection, batch: usize, token: &str) -> Result<Vec<i64>, Fault> {
    let claim = sqlx::query(include_str!("sql/claim.sql")).bind(i64::try_from(batch)?).bind(token);
    Ok(claim.fetch_all(c).await?.iter().map(|row| row.get(0)).collect())
}

async fn fused(c: &mut PgConnection, batch: usize, token: &str, ids: &[i64]) -> Result<Vec<i64>, Fault> {
    loop {
        let both = sqlx::query(include_str!("sql/fused.sql")).bind(i64::try_from(batch)?).bind(token).bind(ids);
        match both.fetch_all(&mut *c).await {
            Ok(claimed) => return Ok(claimed.iter().map(|row| row.get(0)).collect()),
            // SKIP LOCKED waits after all for a row that was claimed and committed in this instant, and is being ended: two
            // that end and claim in one statement meet there. Nothing was changed.
            Err(error) if error.as_database_error().and_then(|e| e.code()).as_deref() == Some("40P01") => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// The same work on so many connections at once.
async fn each<F>(pool: &PgPool, connections: usize, work: F) -> Result<(), Fault>
where
    F: AsyncFn(&mut PgConnection, &str) -> Result<(), Fault>,
{
    let one = async |number: usize| -> Result<(), Fault> {
        let mut connection = pool.acquire().await?.detach();
        let done = work(&mut connection, &format!("bare#{number}")).await;
        connection.close().await?;
        done
    };
    try_join_all((1..=connections).map(one)).await.map(drop)
}
