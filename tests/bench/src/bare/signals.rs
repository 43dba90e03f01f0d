use std::sync::atomic::{AtomicUsize, Ordering};

use sqlx::PgPool;

use super::each;
use crate::Fault;

/// Wakes each of these with a statement of its own, on so many connections.
pub async fn deliver_singly(pool: &PgPool, ids: &[i64], connections: usize) -> Result<(), Fault> {
    let (next, connections) = (&AtomicUsize::new(0), connections);
    each(pool, connections, async move |c, _| {
        while let Some(id) = ids.get(next.fetch_add(1, Ordering::Relaxed)) {
            sqlx::query(include_str!("sql/signal.sql")).bind([*id]).fetch_all(&mut *c).await?;
        }
        Ok(())
    })
    .await
}

/// Wakes all of these, two hundred with a statement.
pub async fn deliver(pool: &PgPool, ids: &[i64]) -> Result<(), Fault> {
    each(pool, 1, async move |c, _| {
        for some in ids.chunks(200) {
            sqlx::query(include_str!("sql/signal.sql")).bind(some).fetch_all(&mut *c).await?;
        }
        Ok(())
    })
    .await
}
