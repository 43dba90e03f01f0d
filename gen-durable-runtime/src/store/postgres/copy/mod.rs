//! One side of a copy that is a Postgres schema.

mod binary;
mod write;

use std::time::Duration;

use futures_util::StreamExt;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection, Row as _};

use super::{Postgres, error};
use crate::{
    Error,
    store::{
        Pending, SchemaName,
        copy::{self, COPYING, Claims, Counts, Marks, Page, Role, Rows, Side, Table, in_use},
    },
};

/// How a copy calls itself: a worker is called `gen-durable`.
const NAME: &str = "gen-durable copy";
/// A session that just ended is seen for a moment longer.
const LOOKS: u32 = 20;
const LOOK: Duration = Duration::from_millis(100);

pub(super) struct PostgresSide {
    connection: PgConnection,
    schema: SchemaName,
    tables: [String; 3],
    /// The type of a status, for arrays of them.
    status_type: u32,
    named: bool,
}

/// Fills the schema's name in.
fn filled(schema: &SchemaName, sql: &str) -> AssertSqlSafe<String> {
    // Safe: the text is ours, and the schema's name in it is quoted.
    AssertSqlSafe(schema.fill(sql))
}

impl Postgres {
    /// Opens a transaction beside which nobody writes.
    pub(super) async fn open_side(&self, role: Role) -> Result<Box<dyn Side>, Error> {
        // A table is one statement: it may take minutes, and is no warning.
        let options = self.0.options.connect()?.application_name(NAME).disable_statement_logging();
        let mut connection = options.connect().await.map_err(error::at(COPYING))?;
        nobody_works(&mut connection).await?;
        let schema = self.schema().clone();
        begin(&mut connection, &schema, role).await.map_err(locked)?;
        let query = sqlx::query_scalar(include_str!("sql/status_type.sql")).persistent(false).bind(schema.as_str());
        let status_type: i64 = query.fetch_one(&mut connection).await.map_err(error::at(COPYING))?;
        let status_type = u32::try_from(status_type).map_err(|_| super::rows::unreadable("oid"))?;
        let (tables, named) = (self.0.tables.clone(), !self.0.options.transaction_pooler);
        Ok(Box::new(PostgresSide { connection, schema, tables, status_type, named }))
    }
}

async fn nobody_works(connection: &mut PgConnection) -> Result<(), Error> {
    let mut others: i64 = 0;
    for _ in 0..LOOKS {
        let query = sqlx::query_scalar(include_str!("sql/workers.sql")).persistent(false);
        others = query.fetch_one(&mut *connection).await.map_err(error::at(COPYING))?;
        if others == 0 {
            return Ok(());
        }
        tokio::time::sleep(LOOK).await;
    }
    Err(in_use(format!(
        "{others} other sessions of gen-durable are in this database, workers or clients, of whatever schema: stop them"
    )))
}

async fn begin(connection: &mut PgConnection, schema: &SchemaName, role: Role) -> Result<(), sqlx::Error> {
    let sql = match role {
        Role::Source => include_str!("sql/begin_source.sql"),
        Role::Target => include_str!("sql/begin_target.sql"),
    };
    sqlx::raw_sql(filled(schema, sql)).execute(&mut *connection).await?;
    sqlx::query(include_str!("sql/unlimited.sql")).persistent(false).execute(connection).await.map(drop)
}

fn locked(failed: sqlx::Error) -> Error {
    match failed.as_database_error().and_then(|e| e.code()).as_deref() {
        Some("55P03") => in_use("its tables are locked by others, who write or wait: stop them"),
        _ => error::at(COPYING)(failed),
    }
}

fn statement(table: Table) -> &'static str {
    match table {
        Table::Instances => include_str!("sql/read_instances.sql"),
        Table::Links => include_str!("sql/read_links.sql"),
        Table::Signals => include_str!("sql/read_signals.sql"),
        Table::History => include_str!("sql/read_history.sql"),
        Table::Configs => include_str!("sql/read_configs.sql"),
        Table::Buckets => include_str!("sql/read_buckets.sql"),
        Table::Schedules => include_str!("sql/read_schedules.sql"),
        Table::Queues => include_str!("sql/read_queues.sql"),
    }
}

impl PostgresSide {
    fn sql(&self, text: &str) -> AssertSqlSafe<String> {
        filled(&self.schema, text)
    }
}

impl Side for PostgresSide {
    fn columns(&mut self, table: Table) -> Pending<'_, Vec<String>> {
        Box::pin(async move {
            let query = sqlx::query_scalar(include_str!("sql/columns.sql")).persistent(self.named);
            let query = query.bind(self.schema.as_str()).bind(table.name());
            query.fetch_all(&mut self.connection).await.map_err(error::at(COPYING))
        })
    }

    fn claims(&mut self) -> Pending<'_, Claims> {
        Box::pin(async move {
            let query = sqlx::query_as(self.sql(include_str!("sql/claims.sql"))).persistent(self.named);
            let found: (i64, i64) = query.fetch_one(&mut self.connection).await.map_err(error::at(COPYING))?;
            let longest = Duration::from_micros(found.1.max(0).cast_unsigned());
            Ok(Claims { count: found.0, longest })
        })
    }

    fn rows(&mut self, table: Table) -> Rows<'_> {
        let sql = self.sql(statement(table));
        let rows = sqlx::query(sql).persistent(self.named).fetch(&mut self.connection);
        let failed = || error::at(COPYING);
        Box::pin(rows.enumerate().map(move |(at, row)| copy::row(table, at, &row.map_err(failed())?, failed())))
    }

    fn counts(&mut self) -> Pending<'_, Counts> {
        Box::pin(async move {
            let query = sqlx::query(self.sql(include_str!("sql/counts.sql"))).persistent(self.named);
            let found = query.fetch_one(&mut self.connection).await.map_err(error::at(COPYING))?;
            let mut counts = Counts::default();
            for (at, count) in counts.iter_mut().enumerate() {
                *count = found.try_get(at).map_err(error::at(COPYING))?;
            }
            Ok(counts)
        })
    }

    fn marks(&mut self) -> Pending<'_, Marks> {
        Box::pin(async move {
            let query = sqlx::query_as(self.sql(include_str!("sql/marks.sql"))).persistent(self.named);
            let query = query.bind(&self.tables[0]).bind(&self.tables[1]).bind(&self.tables[2]);
            let (instances, signals, history) =
                query.fetch_one(&mut self.connection).await.map_err(error::at(COPYING))?;
            Ok(Marks { instances, signals, history })
        })
    }

    fn write<'a>(&'a mut self, table: Table, page: &'a Page) -> Pending<'a, ()> {
        Box::pin(self.write_page(table, page))
    }

    fn commit(&mut self, marks: Marks) -> Pending<'_, ()> {
        Box::pin(async move {
            for (table, mark) in self.tables.iter().zip([marks.instances, marks.signals, marks.history]) {
                let query = sqlx::query(include_str!("sql/set_mark.sql")).persistent(self.named).bind(table).bind(mark);
                query.execute(&mut self.connection).await.map_err(error::at(COPYING))?;
            }
            let done = sqlx::raw_sql(include_str!("sql/commit.sql")).execute(&mut self.connection).await;
            done.map(drop).map_err(error::at(COPYING))
        })
    }

    /// Without a commit the server rolls back.
    fn close(self: Box<Self>) -> Pending<'static, ()> {
        Box::pin(async move { self.connection.close().await.map_err(error::at(COPYING)) })
    }
}
