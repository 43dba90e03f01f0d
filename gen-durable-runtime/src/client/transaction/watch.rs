//! Watches callers' transactions on Postgres, to wake workers once they have committed.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, OnceLock},
    time::Duration,
};

use tokio::sync::mpsc;

use crate::store::{CallerTransaction, Notifier, Store};

/// How often a caller's transaction is looked at: soon, then ever more seldom.
const LOOK: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(100));

/// Whom to wake once a transaction has committed.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) xid: String,
    pub(super) queues: BTreeSet<String>,
}

/// Watches callers' transactions, all of a client together: one statement for all that are open.
#[derive(Debug, Default)]
pub(in crate::client) struct Watch(OnceLock<mpsc::UnboundedSender<Pending>>);

impl Watch {
    pub(super) fn send(&self, pending: Pending, store: &Arc<dyn Store>, notifier: &Notifier) {
        let sender = self.0.get_or_init(|| {
            let (sender, inbox) = mpsc::unbounded_channel();
            tokio::spawn(watch(inbox, Arc::clone(store), notifier.clone()));
            sender
        });
        // Closed only with the runtime.
        let _ = sender.send(pending);
    }
}

async fn watch(mut inbox: mpsc::UnboundedReceiver<Pending>, store: Arc<dyn Store>, notifier: Notifier) {
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
        let ended: HashMap<String, CallerTransaction> = found.into_iter().collect();
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
