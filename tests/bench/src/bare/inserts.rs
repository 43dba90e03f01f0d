use sqlx::PgPool;

use super::each;
use crate::Fault;

/// Inserts so many rows, a thousand in a statement, on one connection.
pub async fn in_bulk(pool: &PgPool, rows: usize) -> Result<(), Fault> {
    each(pool, 1, async move |c, _| {
        for _ in 0..rows / 1_000 {
            let (machines, states) = (vec!["noop"; 1_000], vec![r#"{"left":0}"#; 1_000]);
            let many = sqlx::query(include_str!("sql/insert_many.sql")).bind(machines).bind(states);
            many.fetch_all(&mut *c).await?;
        }
        Ok(())
    })
    .await
}

/// Inserts so many rows, each in a statement of its own, on so many connections.
pub async fn singly(pool: &PgPool, rows: usize, connections: usize) -> Result<(), Fault> {
    each(pool, connections, async move |c, _| {
        for _ in 0..rows / connections {
            sqlx::query(include_str!("sql/insert.sql")).bind("noop").bind(r#"{"left":0}"#).fetch_all(&mut *c).await?;
        }
        Ok(())
    })
    .await
}
