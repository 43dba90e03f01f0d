//! Tells whoever must act that work is due: here by a bell, elsewhere by a wake-up.

use std::{sync::Arc, time::Duration};

use super::bell::Bells;
use crate::{machine::Cancel, store::Notifier};

#[derive(Clone)]
pub(super) struct Waker {
    pub(super) bells: Arc<Bells>,
    pub(super) notifier: Notifier,
    /// This process takes no new claims.
    pub(super) stopping: Cancel,
}

impl Waker {
    /// Work is due now in `queue`: here, or for whoever serves it.
    pub(super) fn wake(&self, queue: &str) {
        // A process that stops takes no more: others must.
        if !self.ring(queue) || self.stopping.is_fired() {
            self.notifier.wake(queue);
        }
    }

    /// Whether this process serves `queue`.
    pub(super) fn ring(&self, queue: &str) -> bool {
        self.bells.of(queue).map(|bell| bell.ring()).is_some()
    }

    pub(super) fn due_in(&self, queue: &str, after: Duration) {
        match self.bells.of(queue) {
            Some(bell) if after.is_zero() => bell.ring(),
            Some(bell) => bell.ring_in(after),
            None => self.notifier.wake(queue),
        }
    }
}
