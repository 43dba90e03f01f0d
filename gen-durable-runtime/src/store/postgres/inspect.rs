//! Reading: one instance, a page of them, and how those stand that someone waits for.

use super::{Postgres, rows};
use crate::{
    Error,
    machine::{ChildCounts, ChildResult},
    model::{Child, HistoryEntry, InstanceId, Snapshot, Status, Target},
    store::{CallerTransaction, ChildPage, Filter, KinPage, Standing},
};

pub(super) async fn endings(store: &Postgres, ids: &[InstanceId]) -> Result<Vec<Standing>, Error> {
    let ids: Vec<i64> = ids.iter().map(|id| id.get()).collect();
    let query = sqlx::query(store.statements().ended()).bind(&ids);
    let found = store.ask("waiting", query).await?;
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

pub(super) async fn child_counts(
    store: &Postgres,
    parent: InstanceId,
    round: i64,
) -> Result<Vec<(String, ChildCounts)>, Error> {
    let query = sqlx::query(store.statements().child_counts()).bind(parent.get()).bind(round);
    let found = store.ask("counting children", query).await?;
    found.iter().map(|row| Ok((rows::get(row, "fsm")?, counts(row)?))).collect()
}

fn counts(row: &sqlx::postgres::PgRow) -> Result<ChildCounts, Error> {
    let count = |column| rows::get::<i64>(row, column).map(|n| u64::try_from(n).unwrap_or(0));
    Ok(ChildCounts::new(count("started")?, count("done")?, count("failed")?))
}

pub(super) async fn children(store: &Postgres, page: &ChildPage<'_>) -> Result<Vec<ChildResult>, Error> {
    let query = sqlx::query(store.statements().children()).bind(page.parent.get()).bind(page.round);
    let query = query.bind(page.machines).bind(page.after).bind(i64::from(page.limit));
    let found = store.ask("reading children", query).await?;
    found.iter().map(child).collect()
}

fn child(row: &sqlx::postgres::PgRow) -> Result<ChildResult, Error> {
    let result = match rows::status(row)? {
        Status::Done => Ok(rows::json_opt(row, "result")?.ok_or_else(|| rows::unreadable("result"))?),
        _ => Err(rows::get::<Option<String>>(row, "last_error")?.unwrap_or_default()),
    };
    let index = rows::count(row, "child_index")?;
    Ok(ChildResult { id: InstanceId::new(rows::get(row, "id")?), index, result })
}

pub(super) async fn kin_counts(store: &Postgres, parent: InstanceId, all_rounds: bool) -> Result<ChildCounts, Error> {
    let query = sqlx::query(store.statements().kin_counts()).bind(parent.get()).bind(all_rounds);
    let found = store.ask("counting children", query).await?;
    found.first().map_or(Ok(ChildCounts::default()), counts)
}

pub(super) async fn kin(store: &Postgres, page: &KinPage<'_>) -> Result<Vec<Child>, Error> {
    let query = sqlx::query(store.statements().kin()).bind(page.parent.get()).bind(page.all_rounds);
    let query = page.begins_after().into_iter().fold(query, |query, after| query.bind(after));
    let found = store.ask("reading children", query.bind(i64::from(page.limit))).await?;
    let read = |row| {
        let (id, machine) = (InstanceId::new(rows::get(row, "id")?), rows::get(row, "fsm")?);
        let (round, place) = (rows::get(row, "parent_round")?, rows::get(row, "child_index")?);
        Ok(Child::new(id, machine, rows::status(row)?, round, place))
    };
    found.iter().map(read).collect()
}

pub(super) async fn history(
    store: &Postgres,
    id: InstanceId,
    after: i64,
    limit: u32,
) -> Result<Vec<HistoryEntry>, Error> {
    let query = sqlx::query(store.statements().history()).bind(id.get()).bind(i64::from(limit));
    let found = store.ask("reading history", query.bind(after)).await?;
    found.iter().map(rows::history).collect()
}

pub(super) async fn show(store: &Postgres, target: &Target) -> Result<Option<Snapshot>, Error> {
    let (id, key) = match target {
        Target::Id(id) => (Some(id.get()), None),
        Target::Key(key) => (None, Some(key.as_str())),
    };
    let query = sqlx::query(store.statements().show()).bind(id).bind(key);
    let found = store.ask("showing", query).await?;
    found.first().map(rows::snapshot).transpose()
}

pub(super) async fn list(store: &Postgres, filter: &Filter) -> Result<Vec<Snapshot>, Error> {
    let limit = if filter.limit == 0 { 100 } else { i64::from(filter.limit) };
    let query = sqlx::query(store.statements().list())
        .bind(filter.before.map(InstanceId::get))
        .bind(filter.machine.as_deref())
        .bind(filter.status.map(|s| s.as_str()))
        .bind(filter.queue.as_deref())
        .bind(filter.step.as_deref())
        .bind(limit);
    let found = store.ask("listing", query).await?;
    found.iter().map(rows::snapshot).collect()
}

pub(super) async fn transactions(store: &Postgres, xids: &[String]) -> Result<Vec<(String, CallerTransaction)>, Error> {
    let found = store.ask("watching transactions", sqlx::query(store.statements().transactions()).bind(xids)).await?;
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
