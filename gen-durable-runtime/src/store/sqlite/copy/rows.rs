//! From a row of SQLite to values.

use sqlx::{Row as _, sqlite::SqliteRow};

use super::super::error;
use crate::{
    Error,
    store::copy::{COPYING, Kind, Row, Table, Value, row_refused},
};

pub(super) fn statement(table: Table) -> &'static str {
    match table {
        Table::Instances => include_str!("sql/read_instances.sql"),
        Table::Links => include_str!("sql/read_links.sql"),
        Table::Signals => include_str!("sql/read_signals.sql"),
        Table::History => include_str!("sql/read_history.sql"),
        Table::Configs => include_str!("sql/read_configs.sql"),
        Table::Buckets => include_str!("sql/read_buckets.sql"),
    }
}

pub(super) fn row(table: Table, number: usize, found: &SqliteRow) -> Result<Row, Error> {
    let mut row = Row::with_capacity(table.columns().len());
    for (at, (name, kind)) in table.columns().iter().enumerate() {
        match value(found, at, *kind) {
            Ok(value) => row.push(value),
            // Bytes that are no UTF-8, which SQLite keeps as a text.
            Err(sqlx::Error::ColumnDecode { source, .. }) => {
                return Err(row_refused(table, &row, number, Some(name), source));
            }
            Err(other) => return Err(error::at(COPYING)(other)),
        }
    }
    Ok(row)
}

fn value(row: &SqliteRow, at: usize, kind: Kind) -> Result<Value, sqlx::Error> {
    let value = match kind {
        Kind::Big | Kind::Int | Kind::Small | Kind::Flag | Kind::Moment => {
            row.try_get::<Option<i64>, _>(at)?.map(Value::Int)
        }
        Kind::Real => row.try_get::<Option<f64>, _>(at)?.map(Value::Real),
        Kind::Text | Kind::Status | Kind::Json | Kind::Texts | Kind::Bigs | Kind::Statuses => {
            row.try_get::<Option<String>, _>(at)?.map(Value::Text)
        }
    };
    Ok(value.unwrap_or(Value::Null))
}
