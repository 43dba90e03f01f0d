//! Wake-ups on their way out: gathered while one is under way, sent after the commit they belong to.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::mpsc;

use super::{News, Said, Store, audience::Audience};
use crate::model::{Committed, Transition};

/// Sends wake-ups for queues, each at most once per statement, and what became of instances that somebody waits for:
/// one statement for all that gathered, whatever the load.
#[derive(Clone)]
pub struct Notifier {
    outbox: Arc<Outbox>,
    /// Holds one: that there is something. Closed when the last handle is gone, which ends the sender.
    some: mpsc::Sender<()>,
}

struct Outbox {
    store: Arc<dyn Store>,
    gathered: Mutex<Gathered>,
    audience: Audience,
    /// Held while gathered wake-ups are on their way.
    sending: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Gathered {
    queues: BTreeSet<String>,
    news: Vec<News>,
}

impl Notifier {
    /// Starts the sender. It ends when the last handle is gone.
    pub fn new(store: Arc<dyn Store>) -> Self {
        let (some, waiting) = mpsc::channel(1);
        let outbox = Arc::new(Outbox {
            store,
            gathered: Mutex::default(),
            audience: Audience::default(),
            sending: tokio::sync::Mutex::default(),
        });
        tokio::spawn(send(Arc::clone(&outbox), waiting));
        Self { outbox, some }
    }

    /// Asks for a wake-up of the workers of `queue`. Never blocks.
    pub fn wake(&self, queue: impl Into<String>) {
        self.outbox.gathered().queues.insert(queue.into());
        // Full: the sender will look anyway.
        let _ = self.some.try_send(());
    }

    /// Tells waiting clients what became of a batch, once it is committed; nothing while nobody waits. Never blocks.
    pub fn tell(&self, transitions: &[Transition], committed: &[Committed]) {
        let news = self.outbox.audience.news(transitions, committed);
        if !news.is_empty() {
            self.outbox.gathered().news.extend(news);
            let _ = self.some.try_send(());
        }
    }

    /// What a client said of its waits.
    pub fn hear(&self, said: Said) {
        self.outbox.audience.hear(said);
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
    fn gathered(&self) -> MutexGuard<'_, Gathered> {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn send(&self) {
        let _sending = self.sending.lock().await;
        let Gathered { queues, news } = std::mem::take(&mut *self.gathered());
        let gathered: Vec<String> = queues.into_iter().chain(Said::news(&news)).collect();
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
