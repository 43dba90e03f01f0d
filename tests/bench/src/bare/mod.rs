//! The limit: loops of plain statements that make the same row changes, without an engine.

use sqlx::{Connection, PgConnection, PgPool, Row};

type Fault = Box<dyn std::error::Error + Send + Sync>;

/// Claims and ends batches on `connections` connections until nothing is left.
pub async fn drain(pool: &PgPool, connections: usize, batch: usize) -> Result<(), Fault> {
    each(pool, connections, async move |c, token| {
        loop {
            let ids = claim(c, batch, token).await?;
            if ids.is_empty() {
                return Ok(());
            }
            sqlx::query(include_str!("sql/done.sql")).bind(&ids).bind(token).fetch_all(&mut *c).await?;
        }
    })
    .await
}

/// The same with `steps - 1` updates in place before the end.
pub async fn chain(pool: &PgPool, connections: usize, batch: usize, steps: usize) -> Result<(), Fault> {
    each(pool, connections, async move |c, token| {
        loop {
            let ids = claim(c, batch, token).await?;
            if ids.is_empty() {
                return Ok(());
            }
            for left in (0..steps - 1).rev() {
                let states = vec![format!("{{\"left\":{left}}}"); ids.len()];
                let step = sqlx::query(include_str!("sql/in_place.sql"));
                step.bind(&ids).bind(token).bind(&states).fetch_all(&mut *c).await?;
            }
            sqlx::query(include_str!("sql/done.sql")).bind(&ids).bind(token).fetch_all(&mut *c).await?;
        }
    })
    .await
}

async fn claim(c: &mut PgConnection, batch: usize, token: &str) -> Result<Vec<i64>, Fault> {
    let claim = sqlx::query(include_str!("sql/claim.sql")).bind(i64::try_from(batch)?).bind(token);
    Ok(claim.fetch_all(c).await?.iter().map(|row| row.get(0)).collect())
}

async fn each<F>(pool: &PgPool, connections: usize, work: F) -> Result<(), Fault>
where
    F: AsyncFn(&mut PgConnection, &str) -> Result<(), Fault>,
{
    let one = async |number: usize| {
        let mut connection = pool.acquire().await?.detach();
        let done = work(&mut connection, &format!("bare#{number}")).await;
        connection.close().await?;
        done
    };
    match connections {
        1 => one(1).await,
        _ => {
            let (a, b) = tokio::join!(one(1), one(2));
            a.and(b)
        }
    }
}
