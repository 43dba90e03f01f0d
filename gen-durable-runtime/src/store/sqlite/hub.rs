//! Wake-ups inside one process: every store of a process on one file meets here.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, LazyLock, Mutex, PoisonError, Weak},
};

use tokio::sync::broadcast;

/// More than are ever under way: who lags behind looks at every queue instead.
const CAPACITY: usize = 1_024;

static HUBS: LazyLock<Mutex<HashMap<PathBuf, Weak<Hub>>>> = LazyLock::new(Mutex::default);

/// Passes the names of queues on to whoever listens.
#[derive(Debug)]
pub(super) struct Hub(broadcast::Sender<String>);

impl Hub {
    /// The hub of a file; one of its own for a database in memory.
    pub(super) fn of(file: Option<PathBuf>) -> Arc<Self> {
        let Some(file) = file else { return Arc::new(Self::new()) };
        let mut hubs = HUBS.lock().unwrap_or_else(PoisonError::into_inner);
        hubs.retain(|_, hub| hub.strong_count() > 0);
        if let Some(hub) = hubs.get(&file).and_then(Weak::upgrade) {
            return hub;
        }
        let hub = Arc::new(Self::new());
        hubs.insert(file, Arc::downgrade(&hub));
        hub
    }

    fn new() -> Self {
        Self(broadcast::Sender::new(CAPACITY))
    }

    pub(super) fn send(&self, queues: &[String]) {
        for queue in queues {
            // Nobody listens: nobody is to be woken.
            let _ = self.0.send(queue.clone());
        }
    }

    pub(super) fn listen(&self) -> broadcast::Receiver<String> {
        self.0.subscribe()
    }
}
