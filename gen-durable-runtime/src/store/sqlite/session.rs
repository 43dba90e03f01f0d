//! One call's transaction: bounded in time, rolled back unless it ended.

use std::{sync::atomic::Ordering, time::Duration};

use rand::RngExt;
use sqlx::{
    Connection as _, Sqlite as Db, SqliteConnection, Transaction,
    pool::PoolConnection,
    query::Query,
    sqlite::{SqliteArguments, SqliteRow},
};
use tokio::time::{Instant, error::Elapsed};

use super::{Sqlite, error, file::File};
#[cfg(feature = "testing")]
use crate::store::lent::Held;
use crate::{Error, machine::Tx, model::Work, store::work};

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
    store: &'c Sqlite,
    connection: Connection<'c>,
    operation: &'static str,
    until: Instant,
}

enum Connection<'c> {
    Ours(Box<Transaction<'static, Db>>),
    /// In a caller's own transaction: theirs to end.
    Callers(&'c mut SqliteConnection),
    /// In a transaction that a test has lent.
    #[cfg(feature = "testing")]
    Lent(Held<Db>),
}

impl Sqlite {
    /// Takes the write lock of the file, in turn with this process's other writers.
    pub(super) async fn writing(&self, operation: &'static str, survive: Survive) -> Result<Session<'_>, Error> {
        let until = Instant::now() + self.0.options.call_timeout;
        #[cfg(feature = "testing")]
        if let Some(lent) = &self.0.lent {
            let held = lent.begin().await.map_err(self.failed(operation))?;
            return Ok(Session { store: self, connection: Connection::Lent(held), operation, until });
        }
        let begun = tokio::time::timeout_at(until, self.begin(operation, survive)).await;
        let transaction = begun.map_err(|_| error::locked(operation, &self.0.file))??;
        Ok(Session { store: self, connection: Connection::Ours(Box::new(transaction)), operation, until })
    }

    async fn begin(&self, operation: &'static str, survive: Survive) -> Result<Transaction<'static, Db>, Error> {
        loop {
            self.stands(operation).await?;
            match self.try_begin(survive).await {
                Err(e) if error::is_busy(&e) => {}
                Err(e) => return Err(self.failed(operation)(e)),
                Ok(begun) => {
                    self.0.file.remember();
                    return Ok(begun);
                }
            }
            // At a random moment: two processes that commit all the time would else meet for ever.
            let pause = rand::rng().random_range(1..10);
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
    }

    async fn try_begin(&self, survive: Survive) -> Result<Transaction<'static, Db>, sqlx::Error> {
        let mut connection = self.writer().await?;
        self.flush_for(&mut connection, survive).await?;
        Transaction::begin(connection, Some(sqlx::SqlStr::from_static("BEGIN IMMEDIATE"))).await
    }

    /// The connection that writes, opened anew where it may be of no use any more: when the file could only be read as it
    /// was opened, it stays so; and when SQLite rolled back by itself, as on a full disk, sqlx counts on with a
    /// transaction that is no more, and begins no other.
    async fn writer(&self) -> Result<PoolConnection<Db>, sqlx::Error> {
        loop {
            let mut connection = self.0.writer.acquire().await?;
            let doubtful = self.0.doubtful.swap(false, Ordering::Relaxed) || connection.is_in_transaction();
            // What stands in memory would go with its connection.
            if !doubtful || self.0.file.path().is_none() {
                return Ok(connection);
            }
            // A log that filled the disk can be begun anew once all of it stands in the file. Whatever else is wrong, the
            // next connection meets it.
            let _ = sqlx::query("PRAGMA wal_checkpoint(RESTART)").execute(&mut *connection).await;
            let _ = connection.close().await;
        }
    }

    /// Nothing is written to a file, or a log, that is gone. What the log holds is saved: only we still have it.
    async fn stands(&self, operation: &'static str) -> Result<(), Error> {
        self.0.file.stands(operation)?;
        if !self.0.file.lost_its_log() {
            return Ok(());
        }
        let saved = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&self.0.writer).await;
        saved.map_err(self.failed(operation))?;
        // The writer was just opened anew, with another log: nothing was lost.
        if !self.0.file.lost_its_log() {
            return Ok(());
        }
        Err(error::lost_its_log(operation, &self.0.file))
    }

    fn answered<T>(
        &self,
        operation: &'static str,
        answer: Result<Result<T, sqlx::Error>, Elapsed>,
    ) -> Result<T, Error> {
        answer.map_err(|_| error::timed_out(operation, &self.0.file))?.map_err(self.failed(operation))
    }

    /// What an error means; the file itself may be in a bad way.
    pub(super) fn failed(&self, operation: &'static str) -> impl FnOnce(sqlx::Error) -> Error {
        move |source| {
            self.0.doubtful.fetch_or(error::is_of_the_file(&source), Ordering::Relaxed);
            error::of(operation, &self.0.file)(source)
        }
    }

    /// Sets how the next commit is flushed, where that differs from the last one.
    async fn flush_for(&self, connection: &mut SqliteConnection, survive: Survive) -> Result<(), sqlx::Error> {
        let full = self.0.file.is_full() && survive == Survive::PowerCut;
        if self.0.flushes.load(Ordering::Relaxed) != full {
            // Dropped half way, it may have run or not: then the next commit that must be flushed says so again.
            self.0.flushes.store(false, Ordering::Relaxed);
            let sql = if full { "PRAGMA synchronous = FULL" } else { "PRAGMA synchronous = NORMAL" };
            sqlx::query(sql).execute(connection).await?;
            self.0.flushes.store(full, Ordering::Relaxed);
        }
        Ok(())
    }

    pub(super) fn within<'c>(&'c self, operation: &'static str, connection: &'c mut SqliteConnection) -> Session<'c> {
        let until = Instant::now() + self.0.options.call_timeout;
        Session { store: self, connection: Connection::Callers(connection), operation, until }
    }

    /// One statement that only reads, beside whoever writes.
    pub(super) async fn read(
        &self,
        operation: &'static str,
        query: Query<'_, Db, SqliteArguments>,
    ) -> Result<Vec<SqliteRow>, Error> {
        #[cfg(feature = "testing")]
        if let Some(lent) = &self.0.lent {
            let mut held = lent.hold().await.map_err(self.failed(operation))?;
            return query.fetch_all(held.connection()).await.map_err(self.failed(operation));
        }
        self.stands(operation).await?;
        let readers = self.0.readers.as_ref().unwrap_or(&self.0.writer);
        let answer = tokio::time::timeout(self.0.options.call_timeout, query.fetch_all(readers)).await;
        self.answered(operation, answer)
    }
}

impl Session<'_> {
    /// Runs one statement.
    pub(super) async fn rows(&mut self, query: Query<'_, Db, SqliteArguments>) -> Result<Vec<SqliteRow>, Error> {
        let answer = tokio::time::timeout_at(self.until, query.fetch_all(self.connection())).await;
        self.store.answered(self.operation, answer)
    }

    fn connection(&mut self) -> &mut SqliteConnection {
        match &mut self.connection {
            Connection::Ours(transaction) => transaction,
            Connection::Callers(connection) => connection,
            #[cfg(feature = "testing")]
            Connection::Lent(held) => held.connection(),
        }
    }

    /// Runs the user's own work in this transaction.
    pub(super) async fn work(&mut self, work: &Work) -> Result<(), Error> {
        let limit = self.store.0.options.call_timeout;
        work::run(work, Tx::on_sqlite(self.connection()), limit).await?;
        // The time it took is its own.
        self.until = Instant::now() + limit;
        Ok(())
    }

    /// Runs several statements at once.
    pub(super) async fn script(&mut self, sql: &'static str) -> Result<(), Error> {
        let answer = tokio::time::timeout_at(self.until, sqlx::raw_sql(sql).execute(self.connection())).await;
        self.store.answered(self.operation, answer).map(drop)
    }

    pub(super) fn file(&self) -> &File {
        &self.store.0.file
    }

    /// Commits, if the transaction is ours.
    pub(super) async fn end(self) -> Result<(), Error> {
        let answer = match self.connection {
            Connection::Ours(transaction) => tokio::time::timeout_at(self.until, transaction.commit()).await,
            Connection::Callers(_) => return Ok(()),
            #[cfg(feature = "testing")]
            Connection::Lent(mut held) => tokio::time::timeout_at(self.until, held.end()).await,
        };
        self.store.answered(self.operation, answer)
    }
}
