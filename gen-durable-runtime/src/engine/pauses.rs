//! Queues that an operator paused: which they are, and who is told.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use super::{backoff::Backoff, shared::Shared};

/// How often paused queues are looked for where wake-ups tell of them: the floor.
const FLOOR: Duration = Duration::from_secs(10);

/// What this process knows of paused queues. Nothing is claimed before the first look.
#[derive(Debug, Default)]
pub(super) struct Pauses {
    paused: RwLock<Option<BTreeSet<String>>>,
    /// Nobody tells of pauses here: the poll finds them.
    pub(super) deaf: AtomicBool,
}

impl Pauses {
    /// Whether nothing of this queue may be taken.
    pub(super) fn holds(&self, queue: &str) -> bool {
        let paused = self.paused.read().unwrap_or_else(PoisonError::into_inner);
        paused.as_ref().is_none_or(|paused| paused.contains(queue))
    }

    /// No queue is paused, and nobody looks: in tests.
    #[cfg(feature = "testing")]
    pub(super) fn none() -> Self {
        Self { paused: RwLock::new(Some(BTreeSet::new())), deaf: AtomicBool::new(false) }
    }

    /// Takes note; answers with the queues that go on.
    fn note(&self, now: BTreeSet<String>) -> Resumed {
        let mut paused = self.paused.write().unwrap_or_else(PoisonError::into_inner);
        match paused.replace(now.clone()) {
            None => Resumed::All,
            Some(before) => Resumed::These(before.difference(&now).cloned().collect()),
        }
    }
}

enum Resumed {
    All,
    These(Vec<String>),
}

impl Shared {
    /// Looks which queues are paused: at boot, when told, and now and then.
    pub(super) async fn keep_pauses(self: Arc<Self>) {
        let mut backoff = Backoff::default();
        while !self.is_stopped() {
            match self.store.paused_queues().await {
                Ok(paused) => {
                    backoff = Backoff::default();
                    self.note_paused(paused);
                    let deaf = self.pauses.deaf.load(Ordering::Acquire);
                    let longest = if deaf { self.config.poll } else { FLOOR };
                    self.waker.bells.pauses.wait(longest).await;
                }
                Err(error) => {
                    tracing::warn!(%error, "looking for paused queues failed, trying again");
                    backoff.wait().await;
                }
            }
        }
    }

    fn note_paused(&self, paused: Vec<String>) {
        match self.pauses.note(paused.into_iter().collect()) {
            Resumed::All => self.waker.bells.ring_all(),
            Resumed::These(queues) => {
                for queue in queues {
                    tracing::info!(queue, "goes on");
                    self.waker.ring(&queue);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_taken_before_the_first_look_and_who_goes_on_is_told() {
        let pauses = Pauses::default();
        assert!(pauses.holds("a"));
        assert!(matches!(pauses.note(["a".to_owned()].into()), Resumed::All));
        assert!(pauses.holds("a") && !pauses.holds("b"));
        assert!(matches!(pauses.note(BTreeSet::new()), Resumed::These(queues) if queues == ["a"]));
        assert!(!pauses.holds("a"));
    }
}
