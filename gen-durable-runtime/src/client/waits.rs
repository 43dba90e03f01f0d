//! All waits of a client, looked after by one task: a statement for many of them, no connection each.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::sync::{mpsc, oneshot, watch};

use crate::{
    Error,
    model::InstanceId,
    store::{Standing, Store},
};

/// How soon the second look is taken, and how far apart looks may be.
const EVERY: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(250));
/// How long a look may take: a bounded wait ends soon after its time, in an outage too.
const LOOK: Duration = Duration::from_secs(2);
/// Instances looked at in one statement.
const PIECE: usize = 1_000;

#[derive(Debug)]
pub(super) struct Waits {
    sender: mpsc::UnboundedSender<Waiter>,
    stopped: watch::Sender<bool>,
}

/// One wait: what it waits for, when it is looked at next.
struct Waiter {
    id: InstanceId,
    until: Option<Instant>,
    next: Instant,
    every: Duration,
    tell: oneshot::Sender<Result<Option<Standing>, Error>>,
}

impl Waits {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        let (sender, inbox) = mpsc::unbounded_channel();
        let (stopped, told) = watch::channel(false);
        tokio::spawn(look_after(store, inbox, told));
        Self { sender, stopped }
    }

    /// How the instance stands once it ended, or at `until`; `None` when it does not exist.
    pub(super) async fn end_of(&self, id: InstanceId, until: Option<Instant>) -> Result<Option<Standing>, Error> {
        let (tell, told) = oneshot::channel();
        let waiter = Waiter { id, until, next: Instant::now(), every: EVERY.0, tell };
        if *self.stopped.borrow() || self.sender.send(waiter).is_err() {
            return Err(Error::stopped());
        }
        told.await.unwrap_or_else(|_| Err(Error::stopped()))
    }

    pub(super) fn stop(&self) {
        self.stopped.send_replace(true);
    }
}

async fn look_after(
    store: Arc<dyn Store>,
    mut inbox: mpsc::UnboundedReceiver<Waiter>,
    mut stopped: watch::Receiver<bool>,
) {
    let mut waiting: Vec<Waiter> = Vec::new();
    loop {
        let next = waiting.iter().map(|w| w.next).min();
        let pause = async {
            match next {
                Some(at) => tokio::time::sleep_until(at.into()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            // Closing drops every waiter, which tells it.
            _ = stopped.wait_for(|stopped| *stopped) => return,
            waiter = inbox.recv() => match waiter {
                Some(waiter) => waiting.push(waiter),
                None => return,
            },
            () = pause => {}
        }
        while let Ok(waiter) = inbox.try_recv() {
            waiting.push(waiter);
        }
        waiting.retain(|w| !w.tell.is_closed());
        waiting = tokio::select! {
            _ = stopped.wait_for(|stopped| *stopped) => return,
            still = look(&*store, waiting) => still,
        };
    }
}

/// Looks at those whose time it is; answers with those that still wait.
async fn look(store: &dyn Store, waiting: Vec<Waiter>) -> Vec<Waiter> {
    let now = Instant::now();
    let (due, mut still): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|w| w.next <= now);
    let mut due = due.into_iter().peekable();
    while due.peek().is_some() {
        let piece: Vec<Waiter> = due.by_ref().take(PIECE).collect();
        let mut ids: Vec<InstanceId> = piece.iter().map(|w| w.id).collect();
        ids.sort_unstable();
        ids.dedup();
        match tokio::time::timeout(LOOK, store.endings(&ids)).await.unwrap_or_else(|_| Err(unanswered())) {
            Ok(found) => {
                let found: std::collections::HashMap<_, _> = found.into_iter().map(|s| (s.id, s)).collect();
                let judge = |w: Waiter| {
                    let standing = found.get(&w.id);
                    w.judge(standing)
                };
                still.extend(piece.into_iter().filter_map(judge));
            }
            Err(error) if error.is_transient() => still.extend(piece.into_iter().filter_map(Waiter::unanswered)),
            Err(error) => {
                let text = error.to_string();
                for waiter in piece {
                    let error = Error::store("waiting", crate::StoreClass::Permanent, text.clone());
                    let _ = waiter.tell.send(Err(error));
                }
            }
        }
    }
    still
}

impl Waiter {
    fn judge(self, standing: Option<&Standing>) -> Option<Self> {
        let is_over = standing.is_none_or(|s| s.status.is_ended()) || self.until.is_some_and(|t| t <= Instant::now());
        if is_over {
            let _ = self.tell.send(Ok(standing.cloned()));
            return None;
        }
        self.later()
    }

    /// The database does not answer: goes on, unless its time is up.
    fn unanswered(self) -> Option<Self> {
        if self.until.is_some_and(|t| t <= Instant::now()) {
            let _ = self.tell.send(Err(unanswered()));
            return None;
        }
        self.later()
    }

    fn later(mut self) -> Option<Self> {
        self.every = (self.every * 2).min(EVERY.1);
        let next = Instant::now() + self.every;
        self.next = self.until.map_or(next, |until| next.min(until.max(Instant::now() + EVERY.0)));
        Some(self)
    }
}

fn unanswered() -> Error {
    Error::store("waiting", crate::StoreClass::Transient, "the database does not answer")
}
