//! One queue's claims: as many as there are free places, when work is due.

use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use jiff::Timestamp;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{
    backoff::Backoff,
    bell::Bell,
    executor::ClaimedAt,
    shared::Shared,
    shares::{Granted, Shares},
};
use crate::{
    model::Claim,
    store::{ClaimOrder, Claimed},
};

/// How soon to look again when other claims are just taking every key that was looked at.
const KEYS_IN_FLIGHT: Duration = Duration::from_millis(20);

/// How soon a claim that brought less than it was asked for is followed by another, unless something is due before: one that finds
/// nothing tells when that is, and whoever was claimed did not wait for that look.
const AFTERWARDS: Duration = Duration::from_millis(5);

/// Claims for one queue until the worker stops.
pub(super) struct Scheduler {
    pub(super) limits: Limits,
    pub(super) shared: Arc<Shared>,
    pub(super) queue: String,
    pub(super) bell: Arc<Bell>,
    pub(super) places: Arc<Semaphore>,
    /// What its process shares between its queues.
    pub(super) shares: Option<Arc<Shares>>,
}

/// Whether claims of a queue decide on limits: from when a plain claim met some until none was met for a while.
#[derive(Debug, Default)]
pub(super) struct Limits {
    until: Option<Instant>,
    /// When the head of the queue was last looked at for rows of busy keys.
    looked: Option<Instant>,
}

/// How long claims go on to decide on limits when none are met.
const STICKY: Duration = Duration::from_secs(5);
/// How often the head of the queue is looked at.
const LOOK: Duration = Duration::from_secs(1);

impl Limits {
    /// Whether the next claim decides on limits, and whether a plain one looks at the head of the queue.
    fn next(&mut self) -> (bool, bool) {
        let limits = self.until.is_some_and(|until| Instant::now() < until);
        let look = !limits && self.looked.is_none_or(|at| at.elapsed() >= LOOK);
        if look {
            self.looked = Some(Instant::now());
        }
        (limits, look)
    }

    fn met(&mut self) {
        self.until = Some(Instant::now() + STICKY);
    }
}

/// What a claim brought.
struct Came {
    /// As many as were asked for: then there may be more.
    full: bool,
    /// None at all: then it told when the next one is due.
    none: bool,
    /// One that crashed twice before.
    crashed: bool,
}

impl Scheduler {
    pub(super) async fn run(mut self) {
        let mut backoff = Backoff::default();
        let mut after_a_crashed = false;
        while !self.shared.is_stopping() {
            if self.is_paused() {
                self.rest(self.shared.idle_poll()).await;
                continue;
            }
            let free = self.free_places().await;
            let Some((free, granted)) = self.shared_places(free).await else { break };
            // It may have come while this waited for a place.
            if self.is_paused() {
                continue;
            }
            match self.claim(free, granted, !after_a_crashed).await {
                Ok(Came { full, none, crashed }) => {
                    backoff = Backoff::default();
                    after_a_crashed = crashed;
                    // One that crashed before may have hidden the work behind it: that is looked at next.
                    if !full && !crashed {
                        self.rest(if none { self.shared.idle_poll() } else { AFTERWARDS }).await;
                    }
                }
                Err(error) if error.is_conflict() => tracing::debug!(queue = self.queue, "another claim took the key"),
                Err(error) => {
                    tracing::warn!(queue = self.queue, %error, "claim failed, trying again");
                    self.is_sated();
                    backoff.wait().await;
                }
            }
        }
    }

    /// Waits for a free place; then lets everything that was just committed leave its place as well, so that the
    /// next claim is one for all of them.
    async fn free_places(&self) -> u32 {
        tokio::select! {
            place = self.places.acquire() => drop(place),
            () = self.shared.stopping.fired() => return 0,
        }
        tokio::task::yield_now().await;
        let free = u32::try_from(self.places.available_permits()).unwrap_or(u32::MAX);
        free.min(self.shared.config.batch)
    }

    /// Those of them that are this queue's by its share; `None` when the worker stops.
    async fn shared_places(&self, free: u32) -> Option<(u32, Option<Granted>)> {
        if free == 0 || self.shared.is_stopping() {
            return None;
        }
        let Some(shares) = &self.shares else { return Some((free, None)) };
        tokio::select! {
            granted = shares.take(&self.queue, free as usize) => {
                Some((u32::try_from(granted.places()).unwrap_or(free), Some(granted)))
            }
            () = self.shared.stopping.fired() => None,
        }
    }

    fn is_paused(&self) -> bool {
        self.shared.pauses.holds(&self.queue)
    }

    /// Until there may be work, at most for `longest`.
    async fn rest(&self, longest: Duration) {
        self.is_sated();
        self.bell.wait(longest).await;
    }

    fn is_sated(&self) {
        self.shares.iter().for_each(|shares| shares.sated(&self.queue));
    }

    async fn claim(&mut self, limit: u32, mut granted: Option<Granted>, crashed: bool) -> Result<Came, crate::Error> {
        let (limits, look) = self.limits.next();
        let shared = Arc::clone(&self.shared);
        // A row that crashed twice before runs one at a time: it must not take its neighbours down with it. After the
        // first crash nobody knows yet whose fault it was, and everything that ran there would go one by one.
        let free = || shared.crashed_running.compare_exchange(false, true, Ordering::AcqRel, Ordering::Acquire).is_ok();
        let crashed = crashed && free();
        let order = ClaimOrder {
            queue: &self.queue,
            limit,
            token: shared.identity.next_token(),
            lease: shared.config.lease,
            known: shared.catalog.known(),
            crashed,
            limits,
            look,
        };
        let since = Instant::now();
        let claimed = shared.store.claim(&order).await;
        let got_one = claimed.as_ref().is_ok_and(|c| c.claims.iter().any(runs_alone));
        if crashed && !got_one {
            shared.crashed_running.store(false, Ordering::Release);
        }
        let Claimed { claims, looked, limited, strangers, wakes, now, next_due, next_deadline } = claimed?;
        // Met by a plain claim: decided on at once.
        let again = limited && !limits;
        if again || (limits && limited) {
            self.limits.met();
        }
        wakes.iter().for_each(|queue| shared.waker.wake(queue));
        if strangers {
            shared.waker.bells.strangers.ring();
        }
        let at = ClaimedAt { database: now, here: Instant::now(), since, stands: false };
        shared.saw_time(now, at.here);
        self.set_bells(now, next_due, next_deadline);
        // Rows of busy keys fill a claim as well: there may be more behind them.
        let full = looked == limit as usize;
        if full && claims.is_empty() && !limits {
            self.bell.ring_in(KEYS_IN_FLIGHT);
        }
        let full = again || (full && !claims.is_empty()) || (full && limits);
        shared.stats.claimed(claims.len());
        let none = claims.is_empty();
        for claim in claims {
            self.start(claim, at, granted.as_mut().and_then(Granted::one));
        }
        Ok(Came { full, none, crashed: got_one })
    }

    fn set_bells(&self, now: Timestamp, next_due: Option<Timestamp>, next_deadline: Option<Timestamp>) {
        let after = |at: Timestamp| at.duration_since(now).unsigned_abs();
        if let Some(due) = next_due {
            self.bell.ring_in(after(due.max(now)));
        }
        if let Some(deadline) = next_deadline {
            self.shared.waker.bells.deadlines.ring_in(after(deadline.max(now)));
        }
    }

    fn start(&self, claim: Claim, at: ClaimedAt, granted: Option<Granted>) {
        // Boxed: a run is moved when it is spawned.
        let claim = Box::new(claim);
        let alone = runs_alone(&claim).then(|| Alone(Arc::clone(&self.shared)));
        let place: Option<OwnedSemaphorePermit> = Arc::clone(&self.places).try_acquire_owned().ok();
        let shared = Arc::clone(&self.shared);
        tokio::spawn(async move {
            shared.execute(claim, at, alone).await;
            drop((place, granted));
        });
    }
}

fn runs_alone(claim: &Claim) -> bool {
    claim.crashes > 1
}

/// The one row of this worker that crashed twice before; the next one may come when this is gone: when its run ended, or
/// made progress.
pub(super) struct Alone(Arc<Shared>);

impl Drop for Alone {
    fn drop(&mut self) {
        self.0.crashed_running.store(false, Ordering::Release);
        self.0.waker.bells.ring_all();
    }
}
