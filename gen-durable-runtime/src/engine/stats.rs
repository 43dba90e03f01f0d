use std::sync::atomic::{AtomicUsize, Ordering};

/// What an engine did so far.
#[derive(Debug, Default)]
pub struct Stats {
    claimed: AtomicUsize,
    lost: AtomicUsize,
    reaped: AtomicUsize,
}

impl Stats {
    pub(super) fn claimed(&self, rows: usize) {
        self.claimed.fetch_add(rows, Ordering::Relaxed);
    }

    pub(super) fn lost(&self) {
        self.lost.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn reaped(&self, rows: usize) {
        self.reaped.fetch_add(rows, Ordering::Relaxed);
    }

    /// Instances claimed.
    pub fn claims(&self) -> usize {
        self.claimed.load(Ordering::Relaxed)
    }

    /// Outcomes dropped because their claim was lost.
    pub fn lost_claims(&self) -> usize {
        self.lost.load(Ordering::Relaxed)
    }

    /// Claims of dead workers taken back.
    pub fn reaped_claims(&self) -> usize {
        self.reaped.load(Ordering::Relaxed)
    }
}
