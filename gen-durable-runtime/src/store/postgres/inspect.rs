//! Reading: one instance, a page of them, and how those stand that someone waits for.

use super::{Postgres, rows};
use crate::{
    Error,
    model::{InstanceId, Snapshot, Target},
    store::{CallerTransaction, Filter, Standing},
};

pub(super) async fn endings(store: &Postgres, ids: &[InstanceId]) -> Result<Vec<Standing>, Error> {
    let ids: Vec<i64> = ids.iter().map(|id| id.get()).collect();
    let mut session = store.session("waiting").await?;
    let query = sqlx::query(store.statements().ended()).bind(&ids);
    let found = session.rows(query).await?;
    session.end().await?;
    found.iter().map(standing).collect()
}

fn standing(row: &sqlx::postgres::PgRow) -> Result<Standing, Error> {
    Ok(Standing {
        id: InstanceId::new(rows::get(row, "id")?),
        machine: rows::get(row, "fsm")?,
        status: rows::status(row)?,
        step: rows::get(row, "step")?,
        result: rows::json_opt(row, "result")?,
        error: rows::get(row, "last_error")?,
    })
}

pub(super) async fn show(store: &Postgres, target: &Target) -> Result<Option<Snapshot>, Error> {
    let (id, key) = match target {
        Target::Id(id) => (Some(id.get()), None),
        Target::Key(key) => (None, Some(key.as_str())),
    };
    let mut session = store.session("showing").await?;
    let query = sqlx::query(store.statements().show()).bind(id).bind(key);
    let found = session.rows(query).await?;
    session.end().await?;
    found.first().map(rows::snapshot).transpose()
}

pub(super) async fn list(store: &Postgres, filter: &Filter) -> Result<Vec<Snapshot>, Error> {
    let limit = if filter.limit == 0 { 100 } else { i64::from(filter.limit) };
    let mut session = store.session("listing").await?;
    let query = sqlx::query(store.statements().list())
        .bind(filter.before.map(InstanceId::get))
        .bind(filter.machine.as_deref())
        .bind(filter.status.map(|s| s.as_str()))
        .bind(filter.queue.as_deref())
        .bind(filter.step.as_deref())
        .bind(limit);
    let found = session.rows(query).await?;
    session.end().await?;
    found.iter().map(rows::snapshot).collect()
}

pub(super) async fn transactions(store: &Postgres, xids: &[String]) -> Result<Vec<(String, CallerTransaction)>, Error> {
    let mut session = store.session("watching transactions").await?;
    let found = session.rows(sqlx::query(store.statements().transactions()).bind(xids)).await?;
    session.end().await?;
    let read = |row: &sqlx::postgres::PgRow| -> Result<_, Error> {
        let status = match rows::get::<Option<&str>>(row, "status")? {
            Some("in progress") => CallerTransaction::Open,
            Some("aborted") => CallerTransaction::RolledBack,
            // Too old to be known counts as committed: one wake-up too many costs nothing.
            Some(_) | None => CallerTransaction::Committed,
        };
        Ok((rows::get(row, "xid")?, status))
    };
    found.iter().map(read).collect()
}
