//! From durations and times to the numbers the statements take, and back.

use jiff::Timestamp;
use sqlx::{Row, postgres::PgRow};

use super::error;
pub(super) use crate::store::written::{micros, timestamp};
use crate::{
    Error, StoreClass,
    model::{Claim, ClaimToken, HistoryEntry, InstanceId, Json, Parent, ReceivedSignal, Snapshot, Status, Wake},
};

pub(super) fn unreadable(column: &str) -> Error {
    Error::store("reading a row", StoreClass::Permanent, format!("column {column} holds an unknown value"))
}

/// A column of a row.
pub(super) fn get<'r, T>(row: &'r PgRow, column: &'static str) -> Result<T, Error>
where
    T: sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres>,
{
    row.try_get(column).map_err(error::at("reading a row"))
}

pub(super) fn json(row: &PgRow, column: &'static str) -> Result<Json, Error> {
    get::<String>(row, column).map(Json::stored)
}

pub(super) fn json_opt(row: &PgRow, column: &'static str) -> Result<Option<Json>, Error> {
    Ok(get::<Option<String>>(row, column)?.map(Json::stored))
}

pub(super) fn count(row: &PgRow, column: &'static str) -> Result<u32, Error> {
    Ok(u32::try_from(get::<i32>(row, column)?).unwrap_or(0))
}

pub(super) fn status(row: &PgRow) -> Result<Status, Error> {
    Status::from_stored(get(row, "status")?).ok_or_else(|| unreadable("status"))
}

pub(super) fn claim(row: &PgRow, token: &ClaimToken, queue: &str) -> Result<Claim, Error> {
    Ok(Claim {
        id: InstanceId::new(get(row, "id")?),
        token: token.clone(),
        machine: get(row, "fsm")?,
        version: get(row, "fsm_version")?,
        step: get(row, "step")?,
        state: json(row, "state")?,
        carry: json_opt(row, "carry")?,
        attempt: count(row, "attempt")?,
        errors: count(row, "errors")?,
        crashes: count(row, "crashes")?,
        transitions: get(row, "transitions")?,
        queue: queue.to_owned(),
        priority: get(row, "priority")?,
        home_queue: get(row, "home_queue")?,
        home_priority: get(row, "home_priority")?,
        concurrency_key: get(row, "concurrency_key")?,
        slot: get(row, "concurrency_shard")?,
        holds: false,
        parent: parent(row)?,
        cancelled: get(row, "cancelled")?,
        expired: get(row, "expired")?,
        exit: signals(row, "exit")?.and_then(|mut signals| signals.pop()),
        has_children: get(row, "has_children")?,
        wake: wake(row)?,
    })
}

pub(super) fn parent(row: &PgRow) -> Result<Option<Parent>, Error> {
    let (id, round) = (get::<Option<i64>>(row, "parent_id")?, get(row, "parent_round")?);
    Ok(id.map(|id| Parent { id: InstanceId::new(id), round }))
}

fn wake(row: &PgRow) -> Result<Wake, Error> {
    if !get::<bool>(row, "waited")? {
        return Ok(Wake::Ready);
    }
    if !get::<bool>(row, "settled")? {
        return Ok(Wake::Unsatisfied);
    }
    Ok(Wake::Signals(signals(row, "signals")?.unwrap_or_default()))
}

/// Signals as a JSON list of id, name and payload.
fn signals(row: &PgRow, column: &'static str) -> Result<Option<Vec<ReceivedSignal>>, Error> {
    let Some(text) = get::<Option<&str>>(row, column)? else { return Ok(None) };
    let signals: Vec<(i64, String, Box<serde_json::value::RawValue>)> =
        serde_json::from_str(text).map_err(|_| unreadable(column))?;
    let received = |(id, name, payload): (_, _, Box<serde_json::value::RawValue>)| ReceivedSignal {
        id,
        name,
        payload: Json::stored(String::from(Box::<str>::from(payload))),
    };
    Ok(Some(signals.into_iter().map(received).collect()))
}

pub(super) fn snapshot(row: &PgRow) -> Result<Snapshot, Error> {
    let raw = |column| -> Result<_, Error> {
        let text: Option<String> = get(row, column)?;
        text.map(|t| serde_json::value::RawValue::from_string(t).map_err(|_| unreadable(column))).transpose()
    };
    let at = |column| -> Result<_, Error> { Ok(get::<Option<i64>>(row, column)?.map(timestamp)) };
    Ok(Snapshot {
        id: InstanceId::new(get(row, "id")?),
        machine: get(row, "fsm")?,
        version: get(row, "fsm_version")?,
        step: get(row, "step")?,
        status: status(row)?,
        state: raw("state")?.ok_or_else(|| unreadable("state"))?,
        carry: raw("carry")?,
        result: raw("result")?,
        last_error: get(row, "last_error")?,
        cancelled: get(row, "cancelled")?,
        awaits: get(row, "awaits")?,
        await_deadline: at("await_deadline_us")?,
        deadline: at("deadline_us")?,
        blocked_by: get(row, "blocked_by")?,
        due_at: at("due_us")?,
        key: get(row, "correlation_key")?,
        key_kept: get(row, "key_kept")?,
        queue: get(row, "queue")?,
        priority: get(row, "priority")?,
        home_queue: get(row, "home_queue")?,
        home_priority: get(row, "home_priority")?,
        attempt: count(row, "attempt")?,
        crashes: count(row, "crashes")?,
        transitions: get(row, "transitions")?,
        // `infinity` is how a person puts a row aside.
        eligible_at: at("eligible_us")?.unwrap_or(Timestamp::MAX),
        worker: get(row, "locked_by")?,
        lease_expires_at: at("lease_us")?,
        inserted_at: at("inserted_us")?.ok_or_else(|| unreadable("inserted_at"))?,
        updated_at: at("updated_us")?.ok_or_else(|| unreadable("updated_at"))?,
    })
}

pub(super) fn history(row: &PgRow) -> Result<HistoryEntry, Error> {
    let times = [timestamp(get(row, "started_us")?), timestamp(get(row, "committed_us")?)];
    let (id, visit, from, to, outcome) =
        (get(row, "id")?, get(row, "visit")?, get(row, "from_step")?, get(row, "to_step")?, get(row, "outcome")?);
    let (attempt, worker, error) = (count(row, "attempt")?, get(row, "worker")?, get(row, "error")?);
    Ok(HistoryEntry::new(id, visit, from, to, outcome, attempt, worker, times, error))
}

/// A column of a batch. One that is NULL throughout goes as an empty array, which `unnest` fills up: each element costs the
/// server about as much as a column that is written.
pub(super) fn column<T>(values: &[Option<T>]) -> &[Option<T>] {
    if values.iter().all(Option::is_none) { &[] } else { values }
}

/// An array literal: an array in each row of a batch travels as text.
pub(super) fn text_array(items: &[&str]) -> String {
    let quoted = items.iter().map(|item| format!("\"{}\"", item.replace('\\', "\\\\").replace('"', "\\\"")));
    format!("{{{}}}", quoted.collect::<Vec<_>>().join(","))
}

/// As [`text_array`], of numbers.
pub(super) fn number_array(items: &[i16]) -> String {
    format!("{{{}}}", items.iter().map(i16::to_string).collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_literal_escapes_what_would_end_it() {
        assert_eq!(text_array(&["a", "b\"}", "c\\"]), r#"{"a","b\"}","c\\"}"#);
    }
}
