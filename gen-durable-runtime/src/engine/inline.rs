//! The engine without its tasks: what is due runs when it is told to, one row after the other. For tests.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Instant,
};

use jiff::Timestamp;
use tokio::sync::Semaphore;

use super::{
    bell::Bells, catalog::Catalog, committer::Committer, config::EngineConfig, executor::ClaimedAt, held::AllHeld,
    identity::Identity, pauses::Pauses, schedules::Look, shared::Shared, stats::Stats, waker::Waker,
};
use crate::{
    Error,
    machine::Cancel,
    model::{Claim, InstanceId},
    store::{ClaimOrder, Claimed, Notifier, Store},
};

/// Waits that are ended at once.
const PIECE: u32 = 1_000;

/// Tells several engines of one process apart.
static ENGINES: AtomicU64 = AtomicU64::new(1);

/// Works on a store whose clock stands still, in the order of the queues' names and, within one, of its claims.
pub struct Inline {
    shared: Arc<Shared>,
    queues: BTreeSet<String>,
    /// Its limits are known to the store.
    defined: AtomicBool,
    /// When it began, until the schedules of its machines stand.
    since: Mutex<Option<Timestamp>>,
}

/// What [`Inline::next`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// This run was due, and is over.
    Ran(Ran),
    /// Nothing is due before this moment.
    Idle(Option<Timestamp>),
}

/// One claim that was carried as far as it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// The instance.
    pub id: InstanceId,
    /// Stored machine name.
    pub machine: String,
    /// The step that ran.
    pub step: String,
    /// Runs of this visit before it.
    pub attempt: u32,
}

impl Inline {
    /// Serves what the catalog has, in its queues; schedules fire for slots after `since`.
    pub fn new(store: Arc<dyn Store>, notifier: Notifier, catalog: Catalog, since: Timestamp) -> Self {
        // Its bells are heard by nobody: whoever drains looks at every queue.
        let waker = Waker { bells: Arc::new(Bells::new(std::iter::empty())), notifier, stopping: Cancel::new() };
        let queues = catalog.queues().map(str::to_owned).collect();
        let shared = Arc::new(Shared {
            committer: Committer::inline(&store, &waker),
            held: AllHeld::default(),
            identity: Identity::of_this_process(u64::MAX - ENGINES.fetch_add(1, Ordering::Relaxed)),
            stats: Stats::default(),
            crashed_running: AtomicBool::new(false),
            renewals_in_line: Semaphore::new(0),
            stopping: waker.stopping.clone(),
            stopped: AtomicBool::new(false),
            some_schedules: AtomicBool::new(false),
            hears: AtomicBool::new(false),
            pauses: Pauses::none(),
            time: Mutex::new((Timestamp::UNIX_EPOCH, Instant::now())),
            store,
            catalog,
            // One step a claim: others have their turn, and every step counts.
            config: EngineConfig { in_place: 1, ..EngineConfig::default() },
            waker,
        });
        Self { shared, queues, defined: AtomicBool::new(false), since: Mutex::new(Some(since)) }
    }

    /// Looks into this queue as well; whether it did not before.
    pub fn serve_queue(&mut self, queue: &str) -> bool {
        !self.queues.contains(queue) && self.queues.insert(queue.to_owned())
    }

    /// Whether it has a handler for this step of this machine.
    pub fn serves(&self, machine: &str, version: i32) -> bool {
        self.shared.catalog.find(machine, version).is_some()
    }

    /// Runs what is due next, to the end of its step. Slots that have come are fired first.
    ///
    /// # Errors
    /// The store's.
    pub async fn next(&self) -> Result<Next, Error> {
        if !self.defined.swap(true, Ordering::AcqRel) {
            super::limiter::define(&self.shared.store, &self.shared.catalog).await?;
        }
        loop {
            let mut soonest = self.fire_schedules().await?;
            for queue in &self.queues {
                let (claim, at, next) = self.claim(queue).await?;
                if let Some(claim) = claim {
                    return Ok(Next::Ran(self.run(claim, at).await));
                }
                soonest = soonest.into_iter().chain(next).min();
            }
            if self.end_waits().await? == 0 {
                return Ok(Next::Idle(soonest));
            }
        }
    }

    /// Fires the slots that have come; when the next one does.
    async fn fire_schedules(&self) -> Result<Option<Timestamp>, Error> {
        let since = *self.since.lock().unwrap_or_else(PoisonError::into_inner);
        if since.is_some() {
            self.shared.keep_schedules(true, since).await?;
            *self.since.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
        let Look { now, next } = self.shared.fire_due_schedules().await?;
        Ok(next.and_then(|next| now.checked_add(next).ok()))
    }

    /// Ends the waits whose time is up; how many there were.
    async fn end_waits(&self) -> Result<usize, Error> {
        let mut ended = 0;
        loop {
            let swept = self.shared.store.end_waits(PIECE).await?;
            ended += swept.rows;
            if swept.rows < PIECE as usize {
                return Ok(ended);
            }
        }
    }

    async fn claim(&self, queue: &str) -> Result<(Option<Claim>, ClaimedAt, Option<Timestamp>), Error> {
        let shared = &self.shared;
        let order = ClaimOrder {
            queue,
            limit: 1,
            token: shared.identity.next_token(),
            lease: shared.config.lease,
            known: shared.catalog.known(),
            crashed: true,
            limits: true,
            look: false,
        };
        let since = Instant::now();
        let Claimed { mut claims, now, next_due, next_deadline, .. } = shared.store.claim(&order).await?;
        let at = ClaimedAt { database: now, here: Instant::now(), since, stands: true };
        Ok((claims.pop(), at, next_due.into_iter().chain(next_deadline).min()))
    }

    async fn run(&self, claim: Claim, at: ClaimedAt) -> Ran {
        let (id, machine, step, attempt) = (claim.id, claim.machine.clone(), claim.step.clone(), claim.attempt);
        Arc::clone(&self.shared).execute(Box::new(claim), at, None).await;
        Ran { id, machine, step, attempt }
    }
}

impl std::fmt::Debug for Inline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inline").field("queues", &self.queues).finish_non_exhaustive()
    }
}
