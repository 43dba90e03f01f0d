//! What every part of an engine may use.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use jiff::Timestamp;
use tokio::sync::Semaphore;

use super::{
    catalog::Catalog, committer::Committer, config::EngineConfig, held::AllHeld, identity::Identity, pauses::Pauses,
    stats::Stats, waker::Waker,
};
use crate::{machine::Cancel, store::Store};

/// The parts, and the state they share.
pub(super) struct Shared {
    pub(super) store: Arc<dyn Store>,
    pub(super) catalog: Catalog,
    pub(super) config: EngineConfig,
    pub(super) committer: Committer,
    pub(super) waker: Waker,
    pub(super) held: AllHeld,
    pub(super) identity: Identity,
    pub(super) stats: Stats,
    /// A row whose process died before is running, or being claimed.
    pub(super) crashed_running: AtomicBool,
    /// Places for renewals that wait for a row.
    pub(super) renewals_in_line: Semaphore,
    /// No new claims.
    pub(super) stopping: Cancel,
    /// No renewals either.
    pub(super) stopped: AtomicBool,
    /// There are schedules, of whatever machine: without any nobody looks for them.
    pub(super) some_schedules: AtomicBool,
    /// Wake-ups of other processes are heard.
    pub(super) hears: AtomicBool,
    pub(super) pauses: Pauses,
    /// The database's time, as last seen, and when that was.
    pub(super) time: Mutex<(Timestamp, Instant)>,
}

impl Shared {
    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.is_fired()
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// How often an idle queue is looked at. While wake-ups are heard that is only the floor under lost ones, and all queues
    /// together cost half of what one does that hears none.
    pub(super) fn idle_poll(&self) -> Duration {
        let queues = u32::try_from(self.config.queues.len()).unwrap_or(u32::MAX);
        if self.hears.load(Ordering::Acquire) {
            self.config.poll.saturating_mul(queues.saturating_mul(2))
        } else {
            self.config.poll
        }
    }

    pub(super) fn saw_time(&self, database: Timestamp, here: Instant) {
        *self.time.lock().unwrap_or_else(PoisonError::into_inner) = (database, here);
    }

    /// How long it is until `at`, by the database's clock.
    pub(super) fn until(&self, at: Timestamp) -> Duration {
        let (database, here) = *self.time.lock().unwrap_or_else(PoisonError::into_inner);
        let ahead = at.duration_since(database);
        if ahead.is_negative() { Duration::ZERO } else { ahead.unsigned_abs().saturating_sub(here.elapsed()) }
    }
}
