//! From a row of either dialect to values: both answer with whole numbers, doubles and texts.

use sqlx::{ColumnIndex, Database, Decode, Type};

use super::{Kind, Row, Table, Value, row_refused};
use crate::Error;

/// The row that comes after `number` others of its table; `failed` is the dialect's word for an error of the database.
pub(in crate::store) fn row<R>(
    table: Table,
    number: usize,
    found: &R,
    failed: impl FnOnce(sqlx::Error) -> Error,
) -> Result<Row, Error>
where
    R: sqlx::Row,
    usize: ColumnIndex<R>,
    for<'r> Option<i64>: Decode<'r, R::Database> + Type<R::Database>,
    for<'r> Option<f64>: Decode<'r, R::Database> + Type<R::Database>,
    for<'r> Option<String>: Decode<'r, R::Database> + Type<R::Database>,
{
    let mut row = Row::with_capacity(table.columns().len());
    for (at, (name, kind)) in table.columns().iter().enumerate() {
        match value(found, at, *kind) {
            Ok(value) => row.push(value),
            // On SQLite: bytes that are no UTF-8, which it keeps as a text.
            Err(sqlx::Error::ColumnDecode { source, .. }) => {
                return Err(row_refused(table, &row, number, Some(name), source));
            }
            Err(other) => return Err(failed(other)),
        }
    }
    Ok(row)
}

fn value<R>(row: &R, at: usize, kind: Kind) -> Result<Value, sqlx::Error>
where
    R: sqlx::Row<Database: Database>,
    usize: ColumnIndex<R>,
    for<'r> Option<i64>: Decode<'r, R::Database> + Type<R::Database>,
    for<'r> Option<f64>: Decode<'r, R::Database> + Type<R::Database>,
    for<'r> Option<String>: Decode<'r, R::Database> + Type<R::Database>,
{
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
