//! Wake-ups on their way out: gathered while one is under way, sent after the commit they belong to.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::mpsc;

use super::Store;

/// Sends wake-ups for queues; each queue at most once per statement, whatever the load.
#[derive(Clone)]
pub struct Notifier {
    outbox: Arc<Outbox>,
    /// Holds one: that there is something. Closed when the last handle is gone, which ends the sender.
    some: mpsc::Sender<()>,
}

struct Outbox {
    store: Arc<dyn Store>,
    queues: Mutex<BTreeSet<String>>,
    /// Held while gathered wake-ups are on their way.
    sending: tokio::sync::Mutex<()>,
}

impl Notifier {
    /// Starts the sender. It ends when the last handle is gone.
    pub fn new(store: Arc<dyn Store>) -> Self {
        let (some, waiting) = mpsc::channel(1);
        let outbox = Arc::new(Outbox { store, queues: Mutex::default(), sending: tokio::sync::Mutex::default() });
        tokio::spawn(send(Arc::clone(&outbox), waiting));
        Self { outbox, some }
    }

    /// Asks for a wake-up of the workers of `queue`. Never blocks.
    pub fn wake(&self, queue: impl Into<String>) {
        self.outbox.queues.lock().unwrap_or_else(PoisonError::into_inner).insert(queue.into());
        // Full: the sender will look anyway.
        let _ = self.some.try_send(());
    }

    /// Resolves when everything asked for has been sent: a process that ends at once would take it along.
    pub async fn flush(&self) {
        self.outbox.send().await;
    }
}

async fn send(outbox: Arc<Outbox>, mut waiting: mpsc::Receiver<()>) {
    while waiting.recv().await.is_some() {
        outbox.send().await;
    }
}

impl Outbox {
    async fn send(&self) {
        let _sending = self.sending.lock().await;
        let gathered = std::mem::take(&mut *self.queues.lock().unwrap_or_else(PoisonError::into_inner));
        let gathered: Vec<String> = gathered.into_iter().collect();
        if gathered.is_empty() {
            return;
        }
        // A lost wake-up is made up for by the poll.
        if let Err(error) = self.store.notify(&gathered).await {
            tracing::debug!(%error, "a wake-up was not sent");
        }
    }
}

impl std::fmt::Debug for Notifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Notifier")
    }
}
