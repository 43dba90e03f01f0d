//! From rows to what the engine and the client know.

use sqlx::{Row, sqlite::SqliteRow};

use super::error;
use crate::{
    Error, StoreClass,
    model::{HistoryEntry, InstanceId, Json, Parent, Snapshot, Status},
    store::written::timestamp,
};

pub(super) fn unreadable(column: &str) -> Error {
    Error::store("reading a row", StoreClass::Permanent, format!("column {column} holds an unknown value"))
}

/// A column of a row.
pub(super) fn get<'r, T>(row: &'r SqliteRow, column: &'static str) -> Result<T, Error>
where
    T: sqlx::Decode<'r, sqlx::Sqlite> + sqlx::Type<sqlx::Sqlite>,
{
    row.try_get(column).map_err(error::at("reading a row"))
}

pub(super) fn json(row: &SqliteRow, column: &'static str) -> Result<Json, Error> {
    get::<String>(row, column).map(Json::stored)
}

pub(super) fn json_opt(row: &SqliteRow, column: &'static str) -> Result<Option<Json>, Error> {
    Ok(get::<Option<String>>(row, column)?.map(Json::stored))
}

/// A number whose column can hold larger ones than its meaning has.
pub(super) fn small<T: TryFrom<i64>>(row: &SqliteRow, column: &'static str) -> Result<T, Error> {
    T::try_from(get(row, column)?).map_err(|_| unreadable(column))
}

pub(super) fn status(row: &SqliteRow) -> Result<Status, Error> {
    Status::from_stored(get(row, "status")?).ok_or_else(|| unreadable("status"))
}

/// A JSON array in a column.
pub(super) fn list<T: serde::de::DeserializeOwned>(
    row: &SqliteRow,
    column: &'static str,
) -> Result<Option<Vec<T>>, Error> {
    let text = get::<Option<&str>>(row, column)?;
    text.map(|t| serde_json::from_str(t).map_err(|_| unreadable(column))).transpose()
}

/// A column that holds JSON.
pub(super) fn parsed<'r, T: serde::Deserialize<'r>>(row: &'r SqliteRow, column: &'static str) -> Result<T, Error> {
    serde_json::from_str(get(row, column)?).map_err(|_| unreadable(column))
}

fn home_priority(row: &SqliteRow) -> Result<Option<i16>, Error> {
    let priority = get::<Option<i64>>(row, "home_priority")?;
    priority.map(i16::try_from).transpose().map_err(|_| unreadable("home_priority"))
}

pub(super) fn parent(row: &SqliteRow) -> Result<Option<Parent>, Error> {
    let (id, round) = (get::<Option<i64>>(row, "parent_id")?, get(row, "parent_round")?);
    Ok(id.map(|id| Parent { id: InstanceId::new(id), round }))
}

pub(super) fn snapshot(row: &SqliteRow) -> Result<Snapshot, Error> {
    let raw = |column| -> Result<_, Error> {
        let text: Option<String> = get(row, column)?;
        text.map(|t| serde_json::value::RawValue::from_string(t).map_err(|_| unreadable(column))).transpose()
    };
    // The largest number is `infinity`: how a person puts a row aside.
    let at = |column| -> Result<_, Error> { Ok(get::<Option<i64>>(row, column)?.filter(|us| *us != i64::MAX)) };
    Ok(Snapshot {
        id: InstanceId::new(get(row, "id")?),
        machine: get(row, "fsm")?,
        version: small(row, "fsm_version")?,
        step: get(row, "step")?,
        status: status(row)?,
        state: raw("state")?.ok_or_else(|| unreadable("state"))?,
        carry: raw("carry")?,
        result: raw("result")?,
        last_error: get(row, "last_error")?,
        cancelled: get(row, "cancelled")?,
        awaits: list(row, "awaits")?.unwrap_or_default(),
        await_deadline: at("await_deadline")?.map(timestamp),
        deadline: at("deadline_at")?.map(timestamp),
        blocked_by: get(row, "blocked_by")?,
        due_at: at("due_at")?.map(timestamp),
        key: get(row, "correlation_key")?,
        key_kept: get(row, "key_kept")?,
        queue: get(row, "queue")?,
        priority: small(row, "priority")?,
        home_queue: get(row, "home_queue")?,
        home_priority: home_priority(row)?,
        attempt: small(row, "attempt")?,
        crashes: small(row, "crashes")?,
        transitions: get(row, "transitions")?,
        eligible_at: at("eligible_at")?.map_or(jiff::Timestamp::MAX, timestamp),
        worker: get(row, "locked_by")?,
        lease_expires_at: at("lease_expires_at")?.map(timestamp),
        inserted_at: timestamp(get(row, "inserted_at")?),
        updated_at: timestamp(get(row, "updated_at")?),
    })
}

pub(super) fn history(row: &SqliteRow) -> Result<HistoryEntry, Error> {
    let times = [timestamp(get(row, "started_at")?), timestamp(get(row, "committed_at")?)];
    let (id, visit, from, to, outcome) =
        (get(row, "id")?, get(row, "visit")?, get(row, "from_step")?, get(row, "to_step")?, get(row, "outcome")?);
    let (attempt, worker, error) = (small(row, "attempt")?, get(row, "worker")?, get(row, "error")?);
    Ok(HistoryEntry::new(id, visit, from, to, outcome, attempt, worker, times, error))
}
