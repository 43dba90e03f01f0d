//! A page into SQLite, row by row: a number keeps every bit, and the row that is refused is known.

use sqlx::{Sqlite as Db, query::Query, sqlite::SqliteArguments};

use super::{SqliteSide, error};
use crate::{
    Error,
    store::copy::{COPYING, Page, Table, Value},
};

const fn statement(table: Table) -> &'static str {
    match table {
        Table::Instances => include_str!("sql/write_instances.sql"),
        Table::Links => include_str!("sql/write_links.sql"),
        Table::Signals => include_str!("sql/write_signals.sql"),
        Table::History => include_str!("sql/write_history.sql"),
        Table::Configs => include_str!("sql/write_configs.sql"),
        Table::Buckets => include_str!("sql/write_buckets.sql"),
        Table::Schedules => include_str!("sql/write_schedules.sql"),
        Table::Queues => include_str!("sql/write_queues.sql"),
    }
}

impl SqliteSide {
    pub(super) async fn write_page(&mut self, table: Table, page: &Page) -> Result<(), Error> {
        for (at, row) in page.rows.iter().enumerate() {
            let query = row.iter().fold(sqlx::query(statement(table)), bind);
            let done = query.execute(&mut self.connection).await;
            done.map_err(|e| refused(table, page, at, e))?;
        }
        Ok(())
    }
}

fn bind<'q>(query: Query<'q, Db, SqliteArguments>, value: &'q Value) -> Query<'q, Db, SqliteArguments> {
    match value {
        Value::Null => query.bind(None::<i64>),
        Value::Int(n) => query.bind(n),
        Value::Real(n) => query.bind(n),
        Value::Text(text) => query.bind(text.as_str()),
    }
}

/// A constraint, or a type that STRICT does not allow; what SQLite says of it names the column and quotes nothing.
fn refused(table: Table, page: &Page, at: usize, failed: sqlx::Error) -> Error {
    match (error::primary(&failed), failed.as_database_error()) {
        (Some(CONSTRAINT | MISMATCH | TOOBIG), Some(db)) => page.refused(table, at, None, db.message()),
        _ => error::at(COPYING)(failed),
    }
}

const TOOBIG: u32 = 18;
const CONSTRAINT: u32 = 19;
const MISMATCH: u32 = 20;
