//! One call's transaction: bounded in time, rolled back unless it ended.

use std::{sync::atomic::Ordering, time::Duration};

use rand::RngExt;
use sqlx::{
    Sqlite as Db, SqliteConnection, Transaction,
    query::Query,
    sqlite::{SqliteArguments, SqliteRow},
};
use tokio::time::Instant;

use super::{Sqlite, error};
use crate::Error;

/// What a commit must survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Survive {
    /// A power cut: outcomes, starts, signals.
    PowerCut,
    /// The end of the process. Losing a claim, a lease or a reap is a lost lease, nothing more, and a later commit
    /// flushes it along.
    Crash,
}

/// The writing transaction of one call. Dropped before its end, it is rolled back.
pub(crate) struct Session<'c> {
    connection: Connection<'c>,
    operation: &'static str,
    until: Instant,
}

enum Connection<'c> {
    Ours(Box<Transaction<'static, Db>>),
    /// In a caller's own transaction: theirs to end.
    Callers(&'c mut SqliteConnection),
}

impl Sqlite {
    /// Takes the write lock of the file, in turn with this process's other writers.
    pub(super) async fn writing(&self, operation: &'static str, survive: Survive) -> Result<Session<'static>, Error> {
        let until = Instant::now() + self.0.options.call_timeout;
        let begun = tokio::time::timeout_at(until, self.begin(operation, survive)).await;
        let transaction = begun.map_err(|_| error::locked(operation))??;
        Ok(Session { connection: Connection::Ours(Box::new(transaction)), operation, until })
    }

    async fn begin(&self, operation: &'static str, survive: Survive) -> Result<Transaction<'static, Db>, Error> {
        loop {
            let mut connection = self.0.writer.acquire().await.map_err(error::at(operation))?;
            self.flush_for(&mut connection, survive).await.map_err(error::at(operation))?;
            match Transaction::begin(connection, Some(sqlx::SqlStr::from_static("BEGIN IMMEDIATE"))).await {
                Err(e) if error::is_busy(&e) => {}
                begun => return begun.map_err(error::at(operation)),
            }
            // At a random moment: two processes that commit all the time would else meet for ever.
            let pause = rand::rng().random_range(1..10);
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
    }

    /// Sets how the next commit is flushed, where that differs from the last one.
    async fn flush_for(&self, connection: &mut SqliteConnection, survive: Survive) -> Result<(), sqlx::Error> {
        let full = self.0.file.is_full() && survive == Survive::PowerCut;
        if self.0.flushes.load(Ordering::Relaxed) != full {
            let sql = if full { "PRAGMA synchronous = FULL" } else { "PRAGMA synchronous = NORMAL" };
            sqlx::query(sql).execute(connection).await?;
            self.0.flushes.store(full, Ordering::Relaxed);
        }
        Ok(())
    }

    pub(super) fn within<'c>(&self, operation: &'static str, connection: &'c mut SqliteConnection) -> Session<'c> {
        let until = Instant::now() + self.0.options.call_timeout;
        Session { connection: Connection::Callers(connection), operation, until }
    }

    /// One statement that only reads, beside whoever writes.
    pub(super) async fn read(
        &self,
        operation: &'static str,
        query: Query<'_, Db, SqliteArguments>,
    ) -> Result<Vec<SqliteRow>, Error> {
        let readers = self.0.readers.as_ref().unwrap_or(&self.0.writer);
        let answer = tokio::time::timeout(self.0.options.call_timeout, query.fetch_all(readers)).await;
        answer.map_err(|_| error::timed_out(operation))?.map_err(error::at(operation))
    }
}

impl Session<'_> {
    /// Runs one statement.
    pub(super) async fn rows(&mut self, query: Query<'_, Db, SqliteArguments>) -> Result<Vec<SqliteRow>, Error> {
        let (until, operation) = (self.until, self.operation);
        let answer = tokio::time::timeout_at(until, query.fetch_all(self.connection())).await;
        answer.map_err(|_| error::timed_out(operation))?.map_err(error::at(operation))
    }

    pub(super) fn connection(&mut self) -> &mut SqliteConnection {
        match &mut self.connection {
            Connection::Ours(transaction) => transaction,
            Connection::Callers(connection) => connection,
        }
    }

    /// Commits, if the transaction is ours.
    pub(super) async fn end(self) -> Result<(), Error> {
        let Connection::Ours(transaction) = self.connection else { return Ok(()) };
        let answer = tokio::time::timeout_at(self.until, transaction.commit()).await;
        answer.map_err(|_| error::timed_out(self.operation))?.map_err(error::at(self.operation))
    }
}
