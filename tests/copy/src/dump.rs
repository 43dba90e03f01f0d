//! Everything that stands in a database, by plain SQL, in one form for both stores.

use serde_json::{Map, Value, json};
use sqlx::{
    AssertSqlSafe, Column, ConnectOptions, Connection, Row, TypeInfo, ValueRef,
    sqlite::{SqliteConnectOptions, SqliteRow},
};

use crate::{Fault, Place};

/// All rows of all tables, every column by its name, generated ones too.
pub type Dump = Vec<(&'static str, Vec<Map<String, Value>>)>;

const TABLES: [(&str, &str); 7] = [
    ("gen_durable", "id"),
    ("signals", "id"),
    ("gen_durable_history", "id"),
    ("gen_durable_bucket_configs", "kind, name"),
    ("gen_durable_buckets", "kind, key, shard"),
    ("gen_durable_schedules", "name"),
    ("gen_durable_queues", "queue"),
];
const JSON: [&str; 7] = ["state", "carry", "result", "payload", "awaits", "received", "correlation_scope"];
const MOMENTS: [&str; 15] = [
    "eligible_at",
    "await_deadline",
    "lease_expires_at",
    "inserted_at",
    "updated_at",
    "consumed_at",
    "last_refill",
    "started_at",
    "committed_at",
    "next_at",
    "paused_at",
    "known_at",
    "last_at",
    "fired_at",
    "missed_at",
];

/// In the form of both.
///
/// # Errors
/// The database's.
pub async fn dump(place: &Place) -> Result<Dump, Fault> {
    let mut dump = raw(place).await?;
    for row in dump.iter_mut().flat_map(|(_, rows)| rows) {
        for (name, value) in row.iter_mut() {
            let seen = value.take();
            *value = if JSON.contains(&name.as_str()) { parsed(seen)? } else { seen };
            if MOMENTS.contains(&name.as_str()) {
                *value = micros(value.take())?;
            }
            // SQLite has no truth values of its own.
            if let Value::Bool(flag) = value {
                *value = u8::from(*flag).into();
            }
            whole(value);
        }
    }
    Ok(dump)
}

/// As the store itself has it.
///
/// # Errors
/// The database's.
pub async fn raw(place: &Place) -> Result<Dump, Fault> {
    let mut dump = Dump::new();
    for (table, key) in TABLES {
        let rows = match place {
            Place::Sqlite(path) => {
                let mut conn = SqliteConnectOptions::new().filename(path).connect().await?;
                let sql = format!("SELECT * FROM {table} ORDER BY {key}");
                let rows = sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut conn).await?;
                conn.close().await?;
                rows.iter().map(columns).collect::<Result<_, _>>()?
            }
            Place::Postgres(database) => {
                let rows = database.query(&format!("SELECT to_jsonb(t) FROM {table} t ORDER BY {key}"))?;
                let text = |row: &local_postgres::Row| row[0].clone().unwrap_or_default();
                rows.iter().map(|row| serde_json::from_str(&text(row))).collect::<Result<_, _>>()?
            }
        };
        dump.push((table, rows));
    }
    Ok(dump)
}

fn columns(row: &SqliteRow) -> Result<Map<String, Value>, Fault> {
    let mut columns = Map::new();
    for column in row.columns() {
        let (at, name) = (column.ordinal(), column.name().to_owned());
        let raw = row.try_get_raw(at)?;
        let value = match raw.type_info().name() {
            // Its type is then the column's.
            _ if raw.is_null() => Value::Null,
            "INTEGER" => json!(row.try_get::<i64, _>(at)?),
            "REAL" => json!(row.try_get::<f64, _>(at)?),
            _ => json!(row.try_get::<String, _>(at)?),
        };
        columns.insert(name, value);
    }
    Ok(columns)
}

/// SQLite has JSON as text.
fn parsed(value: Value) -> Result<Value, Fault> {
    Ok(match value {
        Value::String(text) => serde_json::from_str(&text)?,
        other => other,
    })
}

/// Postgres has moments as text.
fn micros(value: Value) -> Result<Value, Fault> {
    Ok(match value {
        Value::String(text) if text == "infinity" => json!(i64::MAX),
        Value::String(text) if text == "-infinity" => json!(i64::MIN),
        Value::String(text) => json!(text.parse::<jiff::Timestamp>()?.as_microsecond()),
        other => other,
    })
}

/// 1.0 and 1 are one number, however it was written.
fn whole(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(whole),
        Value::Object(members) => members.values_mut().for_each(whole),
        Value::Number(number) if number.is_f64() => {
            let text = number.as_f64().map(|n| format!("{n}")).unwrap_or_default();
            *value = text.parse::<i64>().map_or_else(|_| value.take(), Value::from);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
