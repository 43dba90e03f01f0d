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
    queues: Arc<Mutex<BTreeSet<String>>>,
    /// Holds one: that there is something. Closed when the last handle is gone, which ends the sender.
    some: mpsc::Sender<()>,
}

impl Notifier {
    /// Starts the sender. It ends when the last handle is gone.
    pub fn new(store: Arc<dyn Store>) -> Self {
        let (some, waiting) = mpsc::channel(1);
        let queues = Arc::<Mutex<_>>::default();
        tokio::spawn(send(Arc::clone(&queues), waiting, store));
        Self { queues, some }
    }

    /// Asks for a wake-up of the workers of `queue`. Never blocks.
    pub fn wake(&self, queue: impl Into<String>) {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner).insert(queue.into());
        // Full: the sender will look anyway.
        let _ = self.some.try_send(());
    }
}

async fn send(queues: Arc<Mutex<BTreeSet<String>>>, mut waiting: mpsc::Receiver<()>, store: Arc<dyn Store>) {
    while waiting.recv().await.is_some() {
        let gathered = std::mem::take(&mut *queues.lock().unwrap_or_else(PoisonError::into_inner));
        let gathered: Vec<String> = gathered.into_iter().collect();
        if gathered.is_empty() {
            continue;
        }
        // A lost wake-up is made up for by the poll.
        if let Err(error) = store.notify(&gathered).await {
            tracing::debug!(%error, "a wake-up was not sent");
        }
    }
}

impl std::fmt::Debug for Notifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Notifier")
    }
}
