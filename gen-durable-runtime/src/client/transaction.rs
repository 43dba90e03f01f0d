//! Starts and signals in a caller's own transaction: they are committed with the caller's rows, or not at all.

use std::{sync::Arc, time::Duration};

use sqlx::PgConnection;

use super::{Client, Handle, SignalReceipt, Signalling, signal, start};
use crate::{
    Error,
    machine::Startable,
    model::{SignalSpec, StartSpec, Started},
    store::{CallerTransaction, Delivered, Notifier, Store, postgres::Postgres},
};

/// How often a caller's transaction is looked at: soon, then ever more seldom.
const LOOK: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(100));

/// A client within a caller's transaction. Nothing is visible, and nobody is woken, before the caller commits.
pub struct InTransaction<'t> {
    client: Client,
    connection: &'t mut PgConnection,
}

impl Client {
    /// Works within `transaction`, which stays the caller's to commit or roll back.
    ///
    /// ```ignore
    /// let mut tx = pool.begin().await?;
    /// sqlx::query("INSERT INTO orders VALUES ($1)").bind(7).execute(&mut *tx).await?;
    /// client.in_transaction(&mut tx).start(start(Reserve { order: 7 })).await?;
    /// tx.commit().await?;
    /// ```
    pub fn in_transaction<'t>(&self, transaction: &'t mut PgConnection) -> InTransaction<'t> {
        InTransaction { client: self.clone(), connection: transaction }
    }
}

impl InTransaction<'_> {
    /// As [`Client::start`].
    ///
    /// # Errors
    /// As [`Client::start`]; an error of the database ends the caller's transaction as well.
    pub async fn start<S: Startable>(&mut self, start: S) -> Result<Handle<S::Machine>, Error> {
        let started = self.start_specs(&[start.into_spec()?]).await?;
        let started = *started.first().ok_or_else(Error::stopped)?;
        Ok(Handle::started(self.client.clone(), started))
    }

    /// As [`Client::start_many`].
    ///
    /// # Errors
    /// As [`InTransaction::start`].
    pub async fn start_many<S: Startable>(
        &mut self,
        starts: impl IntoIterator<Item = S>,
    ) -> Result<Vec<Started>, Error> {
        let specs = start::specs(starts)?;
        self.start_specs(&specs).await
    }

    /// As awaiting the signal itself.
    ///
    /// # Errors
    /// `is_no_target`, which leaves the transaction usable; otherwise as [`InTransaction::start`].
    pub async fn signal(&mut self, signal: Signalling) -> Result<SignalReceipt, Error> {
        let delivered = self.signal_specs(&[signal.into_spec()?]).await?;
        signal::receipt(delivered.first().copied())
    }

    /// As [`Client::signal_many`].
    ///
    /// # Errors
    /// As [`InTransaction::start`].
    pub async fn signal_many(
        &mut self,
        signals: impl IntoIterator<Item = Signalling>,
    ) -> Result<Vec<Delivered>, Error> {
        let specs = signal::specs(signals)?;
        self.signal_specs(&specs).await
    }

    async fn start_specs(&mut self, specs: &[StartSpec]) -> Result<Vec<Started>, Error> {
        let store = postgres(&self.client)?;
        let made = store.start_within(self.connection, specs).await?;
        self.wake_after(made.xid, start::queues(specs, &made.answers));
        Ok(made.answers)
    }

    async fn signal_specs(&mut self, specs: &[SignalSpec]) -> Result<Vec<Delivered>, Error> {
        let store = postgres(&self.client)?;
        let made = store.signal_within(self.connection, specs).await?;
        self.wake_after(made.xid, signal::wakes(&made.answers));
        Ok(made.answers.into_iter().map(|d| d.delivered).collect())
    }

    fn wake_after(&self, xid: Option<String>, queues: std::collections::BTreeSet<String>) {
        let Some(xid) = xid.filter(|_| !queues.is_empty()) else { return };
        let pending = Pending { xid, queues };
        let inner = &self.client.0;
        inner.watch.send(pending, &inner.store, &inner.notifier);
    }
}

fn postgres(client: &Client) -> Result<Postgres, Error> {
    let store = client.0.store.as_any().downcast_ref::<Postgres>();
    store.cloned().ok_or_else(|| Error::boot("a Postgres transaction needs a client on Postgres"))
}

/// Whom to wake once a transaction has committed.
#[derive(Debug)]
pub(super) struct Pending {
    xid: String,
    queues: std::collections::BTreeSet<String>,
}

/// Watches callers' transactions, all of a client together: one statement for all that are open.
#[derive(Debug, Default)]
pub(super) struct Watch(std::sync::OnceLock<tokio::sync::mpsc::UnboundedSender<Pending>>);

impl Watch {
    fn send(&self, pending: Pending, store: &Arc<dyn Store>, notifier: &Notifier) {
        let sender = self.0.get_or_init(|| {
            let (sender, inbox) = tokio::sync::mpsc::unbounded_channel();
            tokio::spawn(watch(inbox, Arc::clone(store), notifier.clone()));
            sender
        });
        // Closed only with the runtime.
        let _ = sender.send(pending);
    }
}

async fn watch(mut inbox: tokio::sync::mpsc::UnboundedReceiver<Pending>, store: Arc<dyn Store>, notifier: Notifier) {
    let mut open = Vec::new();
    let mut pause = LOOK.0;
    loop {
        if open.is_empty() {
            let Some(first) = inbox.recv().await else { return };
            open.push(first);
            pause = LOOK.0;
        }
        while let Ok(more) = inbox.try_recv() {
            open.push(more);
            pause = LOOK.0;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LOOK.1);
        let xids: Vec<String> = open.iter().map(|p| p.xid.clone()).collect();
        // Until the database answers again, the poll wakes the workers.
        let found = match store.transactions(&xids).await {
            Ok(found) => found,
            Err(error) if error.is_transient() => continue,
            // An id that the server never gave (it failed over): one wake-up too many costs nothing.
            Err(_) => xids.into_iter().map(|xid| (xid, CallerTransaction::Committed)).collect(),
        };
        let ended: std::collections::HashMap<String, CallerTransaction> = found.into_iter().collect();
        open.retain(|pending| match ended.get(&pending.xid) {
            None | Some(CallerTransaction::Open) => true,
            Some(CallerTransaction::RolledBack) => false,
            Some(CallerTransaction::Committed) => {
                pending.queues.iter().for_each(|queue| notifier.wake(queue));
                false
            }
        });
    }
}

impl std::fmt::Debug for InTransaction<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InTransaction").finish_non_exhaustive()
    }
}
