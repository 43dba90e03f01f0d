//! A page into Postgres, and which of its rows was refused.

use sqlx::postgres::PgDatabaseError;

use super::{PostgresSide, binary, error};
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

impl PostgresSide {
    pub(super) async fn write_page(&mut self, table: Table, page: &Page) -> Result<(), Error> {
        match table {
            Table::Links => self.link(page).await,
            Table::Instances
            | Table::Signals
            | Table::History
            | Table::Configs
            | Table::Buckets
            | Table::Schedules
            | Table::Queues => {
                let data = self.encoded(table, page)?;
                self.send(table, data).await.map_err(|e| refused(table, page, e))
            }
        }
    }

    fn encoded(&self, table: Table, page: &Page) -> Result<Vec<u8>, Error> {
        let columns = table.columns();
        let width = i16::try_from(columns.len()).unwrap_or(i16::MAX).to_be_bytes();
        let mut out = binary::START.to_vec();
        for (at, row) in page.rows.iter().enumerate() {
            out.extend(width);
            for ((name, kind), value) in columns.iter().zip(row) {
                let pushed = binary::push(&mut out, *kind, value, self.status_type);
                pushed.map_err(|why| page.refused(table, at, Some(name), why))?;
            }
        }
        out.extend(binary::END);
        Ok(out)
    }

    async fn send(&mut self, table: Table, data: Vec<u8>) -> Result<(), sqlx::Error> {
        let sql = self.schema.fill(statement(table));
        let mut copy = self.connection.copy_in_raw(&sql).await?;
        copy.send(data).await?;
        copy.finish().await.map(drop)
    }

    async fn link(&mut self, page: &Page) -> Result<(), Error> {
        let column = |at: usize| -> Vec<i64> {
            let ids = page.rows.iter().filter_map(|row| match row.get(at) {
                Some(Value::Int(id)) => Some(*id),
                _ => None,
            });
            ids.collect()
        };
        let sql = self.sql(statement(Table::Links));
        let query = sqlx::query(sql).persistent(self.named).bind(column(0)).bind(column(1));
        query.execute(&mut self.connection).await.map(drop).map_err(error::at(COPYING))
    }
}

/// The server counts the rows of a COPY and names the column, in its own language: `COPY gen_durable, line 3, column
/// state`. Its detail and the rest of its context quote the data, and are left out.
fn refused(table: Table, page: &Page, failed: sqlx::Error) -> Error {
    let Some(db) = failed.as_database_error().and_then(|e| e.try_downcast_ref::<PgDatabaseError>()) else {
        return error::at(COPYING)(failed);
    };
    // Data that do not fit their type, or a constraint.
    if !db.code().starts_with("22") && !db.code().starts_with("23") {
        return error::at(COPYING)(failed);
    }
    let (line, column) = place(table, db.r#where().unwrap_or_default());
    let column = column.or(db.column());
    match line.and_then(|line| line.checked_sub(1)).filter(|at| *at < page.rows.len()) {
        Some(at) => page.refused(table, at, column, db.message()),
        None => error::at(COPYING)(failed),
    }
}

fn place(table: Table, context: &str) -> (Option<usize>, Option<&'static str>) {
    let copy = |line: &&str| line.split([' ', ',']).any(|word| word == table.name());
    let Some(said) = context.lines().rfind(copy) else { return (None, None) };
    let words: Vec<&str> = said.split([' ', ',', ':']).filter(|word| !word.is_empty()).collect();
    let named = |name: &str| words.iter().skip(2).any(|word| *word == name);
    let column = table.columns().iter().map(|(name, _)| *name).find(|name| named(name));
    (words.iter().find_map(|word| word.parse().ok()), column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_says_which_row_and_which_column() {
        let said = "JSON data, line 1: …1, column id\nCOPY gen_durable, line 17, column state";
        assert_eq!(place(Table::Instances, said), (Some(17), Some("state")));
        assert_eq!(place(Table::Instances, "COPY gen_durable, Zeile 2, Spalte carry"), (Some(2), Some("carry")));
        assert_eq!(place(Table::Signals, "COPY signals, line 3"), (Some(3), None));
        assert_eq!(place(Table::Signals, "something else"), (None, None));
    }
}
