//! Wakes whoever waits for work, now or at a known moment.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::sync::Notify;

/// One waiter's bell: rung now, or set to ring at the earliest of the moments it was told.
#[derive(Debug, Default)]
pub(super) struct Bell {
    rung: AtomicBool,
    changed: Notify,
    at: Mutex<Option<Instant>>,
}

impl Bell {
    pub(super) fn ring(&self) {
        self.rung.store(true, Ordering::Release);
        self.changed.notify_one();
    }

    /// Rings at `moment`, unless it rings before.
    pub(super) fn ring_at(&self, moment: Instant) {
        let mut at = self.at.lock().unwrap_or_else(PoisonError::into_inner);
        if at.is_none_or(|earlier| moment < earlier) {
            *at = Some(moment);
            drop(at);
            self.changed.notify_one();
        }
    }

    pub(super) fn ring_in(&self, after: Duration) {
        // A moment beyond the clock's end is never waited for in this process.
        if let Some(moment) = Instant::now().checked_add(after) {
            self.ring_at(moment);
        }
    }

    /// Waits for the bell, at most for `longest`.
    pub(super) async fn wait(&self, longest: Duration) {
        let end = Instant::now() + longest;
        loop {
            if self.rung.swap(false, Ordering::AcqRel) || self.due() {
                return;
            }
            let next = self.next().map_or(end, |at| at.min(end));
            tokio::select! {
                () = self.changed.notified() => {}
                () = tokio::time::sleep_until(next.into()) => if next == end { return },
            }
        }
    }

    fn next(&self) -> Option<Instant> {
        *self.at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether its moment has come; then the moment is spent.
    fn due(&self) -> bool {
        let mut at = self.at.lock().unwrap_or_else(PoisonError::into_inner);
        let due = at.is_some_and(|moment| moment <= Instant::now());
        if due {
            *at = None;
        }
        due
    }
}

/// The bells of the queues this process serves, and those of what is looked for in all.
#[derive(Debug, Default)]
pub(super) struct Bells {
    queues: HashMap<String, Arc<Bell>>,
    pub(super) deadlines: Bell,
    pub(super) schedules: Bell,
    /// There are rows that this process does not know at the head of a queue.
    pub(super) strangers: Bell,
    pub(super) pauses: Bell,
}

impl Bells {
    pub(super) fn new(queues: impl Iterator<Item = String>) -> Self {
        Self { queues: queues.map(|q| (q, Arc::default())).collect(), ..Self::default() }
    }

    /// The bell of a queue that this process serves.
    pub(super) fn of(&self, queue: &str) -> Option<&Arc<Bell>> {
        self.queues.get(queue)
    }

    pub(super) fn ring_all(&self) {
        self.queues.values().for_each(|bell| bell.ring());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_ring_before_the_wait_is_not_lost() {
        let bell = Bell::default();
        bell.ring();
        let start = Instant::now();
        bell.wait(Duration::from_secs(5)).await;
        assert!(start.elapsed() < Duration::from_secs(1));
    }

    #[tokio::test]
    async fn an_earlier_moment_shortens_a_wait_under_way_and_a_later_one_does_not() {
        let bell = Arc::new(Bell::default());
        bell.ring_in(Duration::from_secs(60));
        let waiting = tokio::spawn({
            let bell = Arc::clone(&bell);
            async move { bell.wait(Duration::from_secs(60)).await }
        });
        tokio::task::yield_now().await;
        bell.ring_in(Duration::from_millis(20));
        bell.ring_in(Duration::from_secs(30));
        tokio::time::timeout(Duration::from_secs(5), waiting).await.expect("rung").expect("no panic");
    }
}
