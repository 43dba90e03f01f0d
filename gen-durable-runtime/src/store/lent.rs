//! A transaction that a test lends to a store. Nothing in it is committed: a call of the store is a savepoint, which a call
//! that fails takes back.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use sqlx::{Database, Executor, Transaction};
use tokio::sync::{Mutex, OwnedMappedMutexGuard, OwnedMutexGuard};

/// Nothing here takes long: whoever waits for longer waits for himself.
const TURN: Duration = Duration::from_secs(5);

/// The transaction, until it is rolled back.
pub(crate) struct Lent<DB: Database> {
    transaction: Arc<Mutex<Option<Transaction<'static, DB>>>>,
    /// A savepoint stands whose call has not ended well.
    open: Arc<AtomicBool>,
}

/// The transaction in the hands of one call, or of the test.
pub(crate) struct Held<DB: Database> {
    transaction: OwnedMappedMutexGuard<Option<Transaction<'static, DB>>, Transaction<'static, DB>>,
    open: Arc<AtomicBool>,
}

impl<DB: Database> Lent<DB>
where
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
{
    pub(crate) fn new(transaction: Transaction<'static, DB>) -> Self {
        Self { transaction: Arc::new(Mutex::new(Some(transaction))), open: Arc::default() }
    }

    /// Waits for its turn. What a failed call left is taken back.
    ///
    /// # Errors
    /// `PoolClosed` once it was rolled back; `PoolTimedOut` while a test keeps its own hold.
    pub(crate) async fn hold(&self) -> Result<Held<DB>, sqlx::Error> {
        let turn = tokio::time::timeout(TURN, Arc::clone(&self.transaction).lock_owned()).await;
        let whole = turn.map_err(|_| sqlx::Error::PoolTimedOut)?;
        let transaction = OwnedMutexGuard::try_map(whole, Option::as_mut).map_err(|_| sqlx::Error::PoolClosed)?;
        let mut held = Held { transaction, open: Arc::clone(&self.open) };
        if held.open.load(Ordering::Relaxed) {
            held.run("ROLLBACK TO SAVEPOINT gen_durable; RELEASE SAVEPOINT gen_durable").await?;
            held.open.store(false, Ordering::Relaxed);
        }
        Ok(held)
    }

    /// Begins a call.
    pub(super) async fn begin(&self) -> Result<Held<DB>, sqlx::Error> {
        let mut held = self.hold().await?;
        held.run("SAVEPOINT gen_durable").await?;
        held.open.store(true, Ordering::Relaxed);
        Ok(held)
    }

    /// Rolls everything back; a second time there is nothing.
    pub(crate) async fn roll_back(&self) -> Result<(), sqlx::Error> {
        match self.transaction.lock().await.take() {
            Some(transaction) => transaction.rollback().await,
            None => Ok(()),
        }
    }
}

impl<DB: Database> Held<DB>
where
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
{
    pub(crate) fn connection(&mut self) -> &mut DB::Connection {
        &mut self.transaction
    }

    /// Ends a call well: what it did stays, as long as the transaction does.
    pub(super) async fn end(&mut self) -> Result<(), sqlx::Error> {
        self.run("RELEASE SAVEPOINT gen_durable").await?;
        self.open.store(false, Ordering::Relaxed);
        Ok(())
    }

    async fn run(&mut self, sql: &'static str) -> Result<(), sqlx::Error> {
        sqlx::raw_sql(sql).execute(self.connection()).await.map(drop)
    }
}

impl<DB: Database> Clone for Lent<DB> {
    fn clone(&self) -> Self {
        Self { transaction: Arc::clone(&self.transaction), open: Arc::clone(&self.open) }
    }
}

impl<DB: Database> fmt::Debug for Lent<DB> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lent").field("open", &self.open).finish_non_exhaustive()
    }
}

impl<DB: Database> fmt::Debug for Held<DB> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Held").field("open", &self.open).finish_non_exhaustive()
    }
}
