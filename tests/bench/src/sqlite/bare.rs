//! The limit on one file: the same row changes in the same transactions, without an engine.

use std::time::{SystemTime, UNIX_EPOCH};

use sqlx::{Connection, Row, SqliteConnection};

use crate::Fault;

const TOKEN: &str = "bare#1";

/// Claims batches and ends them after `steps - 1` updates in place, until nothing is left; with lines of history if asked.
pub async fn chain(connection: &mut SqliteConnection, batch: usize, steps: usize, history: bool) -> Result<(), Fault> {
    loop {
        let ids = claim(connection, batch).await?;
        if ids.is_empty() {
            return Ok(());
        }
        for left in (0..steps - 1).rev() {
            let rows: Vec<String> = ids.iter().map(|id| format!("[{id},\"{{\\\"left\\\":{left}}}\"]")).collect();
            let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
            if history {
                log(&mut transaction, &ids).await?;
            }
            let step = sqlx::query(include_str!("sql/in_place.sql")).bind(array(&rows)).bind(TOKEN);
            step.fetch_all(&mut *transaction).await?;
            transaction.commit().await?;
        }
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
        if history {
            log(&mut transaction, &ids).await?;
        }
        let end = sqlx::query(include_str!("sql/done.sql")).bind(array(&ids)).bind(TOKEN).bind(now()?);
        end.fetch_all(&mut *transaction).await?;
        transaction.commit().await?;
    }
}

async fn log(connection: &mut SqliteConnection, ids: &[i64]) -> Result<(), Fault> {
    let log = sqlx::query(include_str!("sql/log.sql")).bind(array(ids)).bind(TOKEN).bind(now()?);
    log.execute(connection).await?;
    Ok(())
}

async fn claim(connection: &mut SqliteConnection, batch: usize) -> Result<Vec<i64>, Fault> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let due = sqlx::query(include_str!("sql/due.sql")).bind(i64::try_from(batch)?).bind(now()?);
    let ids: Vec<i64> = due.fetch_all(&mut *transaction).await?.iter().map(|row| row.get(0)).collect();
    let take = sqlx::query(include_str!("sql/take.sql")).bind(array(&ids)).bind(TOKEN).bind(now()?);
    take.fetch_all(&mut *transaction).await?;
    transaction.commit().await?;
    Ok(ids)
}

fn array(items: &[impl ToString]) -> String {
    format!("[{}]", items.iter().map(ToString::to_string).collect::<Vec<_>>().join(","))
}

fn now() -> Result<i64, Fault> {
    Ok(i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_micros())?)
}
