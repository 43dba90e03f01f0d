//! Reading: one instance, a page of them, and how those stand that someone waits for.

use sqlx::sqlite::SqliteRow;

use super::{Sqlite, encode::json, rows, sql};
use crate::{
    Error,
    machine::{ChildCounts, ChildResult},
    model::{Child, HistoryEntry, InstanceId, Snapshot, Status, Target},
    store::{ChildPage, Filter, KinPage, Standing},
};

pub(super) async fn endings(store: &Sqlite, ids: &[InstanceId]) -> Result<Vec<Standing>, Error> {
    let ids: Vec<i64> = ids.iter().map(|id| id.get()).collect();
    let found = store.read("waiting", sqlx::query(sql::ended()).bind(json(&ids)?)).await?;
    found.iter().map(standing).collect()
}

fn standing(row: &SqliteRow) -> Result<Standing, Error> {
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
    store: &Sqlite,
    parent: InstanceId,
    round: i64,
) -> Result<Vec<(String, ChildCounts)>, Error> {
    let query = sqlx::query(sql::child_counts()).bind(parent.get()).bind(round);
    let found = store.read("counting children", query).await?;
    found.iter().map(|row| Ok((rows::get(row, "fsm")?, counts(row)?))).collect()
}

fn counts(row: &SqliteRow) -> Result<ChildCounts, Error> {
    Ok(ChildCounts::new(rows::small(row, "started")?, rows::small(row, "done")?, rows::small(row, "failed")?))
}

pub(super) async fn children(store: &Sqlite, page: &ChildPage<'_>) -> Result<Vec<ChildResult>, Error> {
    let query = sqlx::query(sql::children()).bind(page.parent.get()).bind(page.round);
    let query = query.bind(json(&page.machines)?).bind(page.after).bind(i64::from(page.limit));
    let found = store.read("reading children", query).await?;
    found.iter().map(child).collect()
}

fn child(row: &SqliteRow) -> Result<ChildResult, Error> {
    let result = match rows::status(row)? {
        Status::Done => Ok(rows::json(row, "result")?),
        _ => Err(rows::get::<Option<String>>(row, "last_error")?.unwrap_or_default()),
    };
    let index = rows::small(row, "child_index")?;
    Ok(ChildResult { id: InstanceId::new(rows::get(row, "id")?), index, result })
}

pub(super) async fn kin_counts(store: &Sqlite, parent: InstanceId, all_rounds: bool) -> Result<ChildCounts, Error> {
    let query = sqlx::query(sql::kin_counts()).bind(parent.get()).bind(all_rounds);
    let found = store.read("counting children", query).await?;
    found.first().map_or(Ok(ChildCounts::default()), counts)
}

pub(super) async fn kin(store: &Sqlite, page: &KinPage<'_>) -> Result<Vec<Child>, Error> {
    let query = sqlx::query(sql::kin()).bind(page.parent.get()).bind(page.all_rounds);
    let query = page.begins_after().into_iter().fold(query, |query, after| query.bind(after));
    let found = store.read("reading children", query.bind(i64::from(page.limit))).await?;
    let read = |row| {
        let (id, machine) = (InstanceId::new(rows::get(row, "id")?), rows::get(row, "fsm")?);
        let (round, place) = (rows::get(row, "parent_round")?, rows::get(row, "child_index")?);
        Ok(Child::new(id, machine, rows::status(row)?, round, place))
    };
    found.iter().map(read).collect()
}

pub(super) async fn history(
    store: &Sqlite,
    id: InstanceId,
    after: i64,
    limit: u32,
) -> Result<Vec<HistoryEntry>, Error> {
    let query = sqlx::query(sql::history()).bind(id.get()).bind(i64::from(limit)).bind(after);
    let found = store.read("reading history", query).await?;
    found.iter().map(rows::history).collect()
}

pub(super) async fn show(store: &Sqlite, target: &Target) -> Result<Option<Snapshot>, Error> {
    let (id, key) = match target {
        Target::Id(id) => (Some(id.get()), None),
        Target::Key(key) => (None, Some(key.as_str())),
    };
    let found = store.read("showing", sqlx::query(sql::show()).bind(id).bind(key)).await?;
    found.first().map(rows::snapshot).transpose()
}

pub(super) async fn list(store: &Sqlite, filter: &Filter) -> Result<Vec<Snapshot>, Error> {
    let limit = if filter.limit == 0 { 100 } else { i64::from(filter.limit) };
    let query = sqlx::query(sql::list())
        .bind(filter.before.map(InstanceId::get))
        .bind(filter.machine.as_deref())
        .bind(filter.status.map(|s| s.as_str()))
        .bind(filter.queue.as_deref())
        .bind(filter.step.as_deref())
        .bind(limit);
    let found = store.read("listing", query).await?;
    found.iter().map(rows::snapshot).collect()
}
