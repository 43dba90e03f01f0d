//! One side of a copy that is a SQLite file.

mod write;

use std::{path::PathBuf, time::Duration};

use futures_util::StreamExt;
use sqlx::{ConnectOptions, Connection, Row as _, SqliteConnection, sqlite::SqliteLockingMode};

use super::{Sqlite, error};
use crate::{
    Error,
    store::{
        Pending,
        copy::{self, COPYING, Claims, Counts, Marks, Page, Role, Rows, Side, Table, in_use, refuse},
    },
};

/// How long someone who just leaves the file is waited for.
const PATIENCE: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(100);
/// Rows between SQLite's thread and ours: each may be large.
const BUFFER: usize = 16;

pub(super) struct SqliteSide {
    connection: SqliteConnection,
    now: i64,
}

impl Sqlite {
    /// What two stores on one file have in common.
    pub(in crate::store) fn file_identity(&self) -> Option<PathBuf> {
        self.0.file.identity()
    }

    /// Opens a transaction while nobody else has the file open, pools of this store included. In WAL mode every open
    /// connection holds a lock on the file, and the exclusive locking mode is refused beside it: measured, for a
    /// reader that sits idle too.
    pub(super) async fn open_side(&self, role: Role) -> Result<Box<dyn Side>, Error> {
        if self.0.file.path().is_none() {
            return Err(refuse("a database in memory cannot be copied"));
        }
        let until = tokio::time::Instant::now() + PATIENCE;
        let connection = loop {
            match self.exclusive().await {
                Ok(connection) => break connection,
                Err(e) if error::is_busy(&e) && tokio::time::Instant::now() < until => tokio::time::sleep(LOOK).await,
                Err(e) if error::is_busy(&e) => {
                    return Err(in_use(
                        "other processes have the file open: stop the workers, and whoever looks at it",
                    ));
                }
                Err(e) => return Err(error::at(COPYING)(e)),
            }
        };
        let mut side = SqliteSide { connection, now: self.now() };
        if role == Role::Source {
            side.nothing_dangles().await?;
        }
        Ok(Box::new(side))
    }

    async fn exclusive(&self) -> Result<SqliteConnection, sqlx::Error> {
        let options = self.0.file.writing().locking_mode(SqliteLockingMode::Exclusive).row_buffer_size(BUFFER);
        // A table is one statement: it may take minutes, and is no warning.
        let mut connection = options.disable_statement_logging().connect().await?;
        sqlx::raw_sql(include_str!("sql/begin.sql")).execute(&mut connection).await?;
        Ok(connection)
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

impl SqliteSide {
    /// Another tool may have deleted without looking at foreign keys; a stricter target could not say which row it was.
    async fn nothing_dangles(&mut self) -> Result<(), Error> {
        let query = sqlx::query_as(include_str!("sql/dangling.sql"));
        let found: Option<(String, i64, bool)> =
            query.fetch_optional(&mut self.connection).await.map_err(error::at(COPYING))?;
        let Some((table, id, is_parent)) = found else { return Ok(()) };
        let column = if is_parent { "parent_id" } else { "target_id" };
        Err(refuse(format!("{table} id {id}, column {column}: names an instance that does not exist")))
    }
}

impl Side for SqliteSide {
    fn columns(&mut self, table: Table) -> Pending<'_, Vec<String>> {
        Box::pin(async move {
            let query = sqlx::query_scalar(include_str!("sql/columns.sql")).bind(table.name());
            query.fetch_all(&mut self.connection).await.map_err(error::at(COPYING))
        })
    }

    fn claims(&mut self) -> Pending<'_, Claims> {
        Box::pin(async move {
            let query = sqlx::query_as(include_str!("sql/claims.sql")).bind(self.now);
            let found: (i64, i64) = query.fetch_one(&mut self.connection).await.map_err(error::at(COPYING))?;
            let longest = Duration::from_micros(found.1.max(0).cast_unsigned());
            Ok(Claims { count: found.0, longest })
        })
    }

    fn rows(&mut self, table: Table) -> Rows<'_> {
        let found = sqlx::query(statement(table)).fetch(&mut self.connection);
        let failed = || error::at(COPYING);
        Box::pin(found.enumerate().map(move |(at, row)| copy::row(table, at, &row.map_err(failed())?, failed())))
    }

    fn counts(&mut self) -> Pending<'_, Counts> {
        Box::pin(async move {
            let query = sqlx::query(include_str!("sql/counts.sql"));
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
            let query = sqlx::query_as(include_str!("sql/marks.sql"));
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
            let Marks { instances, signals, history } = marks;
            let marks = [(Table::Instances, instances), (Table::Signals, signals), (Table::History, history)];
            for (table, mark) in marks {
                for sql in [include_str!("sql/set_mark.sql"), include_str!("sql/new_mark.sql")] {
                    let query = sqlx::query(sql).bind(table.name()).bind(mark);
                    query.execute(&mut self.connection).await.map_err(error::at(COPYING))?;
                }
            }
            let done = sqlx::raw_sql(include_str!("sql/commit.sql")).execute(&mut self.connection).await;
            done.map(drop).map_err(error::at(COPYING))
        })
    }

    /// Without a commit SQLite rolls back.
    fn close(self: Box<Self>) -> Pending<'static, ()> {
        Box::pin(async move { self.connection.close().await.map_err(error::at(COPYING)) })
    }
}
