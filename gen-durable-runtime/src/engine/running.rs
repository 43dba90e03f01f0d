//! A running engine: its tasks, and how it comes to an end.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use jiff::Timestamp;
use tokio::{sync::Semaphore, task::JoinSet};

use super::{
    bell::Bells,
    catalog::Catalog,
    committer::Committer,
    config::EngineConfig,
    held::AllHeld,
    identity::Identity,
    pauses::Pauses,
    scheduler::{Limits, Scheduler},
    shared::Shared,
    stats::Stats,
    waker::Waker,
};
use crate::{
    Error,
    machine::Cancel,
    store::{Notifier, Store},
};

/// How long a stop waits for a claim that is on the wire.
const LAST_CLAIM: Duration = Duration::from_secs(3);

/// How long a stop waits for what it still has to say.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Tells several engines of one process apart.
pub(super) static ENGINES: AtomicU64 = AtomicU64::new(1);

/// A running engine. Dropping it drops running steps, which give their claims back if the runtime lives on;
/// [`Engine::drain`] lets them finish first.
pub struct Engine {
    shared: Arc<Shared>,
    places: HashMap<String, Arc<Semaphore>>,
    schedulers: JoinSet<()>,
    tasks: JoinSet<()>,
}

impl Engine {
    /// Starts to work.
    ///
    /// # Errors
    /// When the configuration would stall or spin.
    pub fn start(
        store: Arc<dyn Store>,
        notifier: Notifier,
        catalog: Catalog,
        config: EngineConfig,
    ) -> Result<Self, Error> {
        config.check()?;
        let bells = Arc::new(Bells::new(config.queues.keys().cloned()));
        let waker = Waker { bells, notifier, stopping: Cancel::new() };
        let shared = Arc::new(Shared {
            committer: Committer::new(&store, &waker, 2, config.batch as usize),
            held: AllHeld::default(),
            identity: Identity::of_this_process(ENGINES.fetch_add(1, Ordering::Relaxed)),
            stats: Stats::default(),
            crashed_running: AtomicBool::new(false),
            renewals_in_line: Semaphore::new(2),
            stopping: waker.stopping.clone(),
            stopped: AtomicBool::new(false),
            some_schedules: AtomicBool::new(false),
            hears: AtomicBool::new(false),
            pauses: Pauses::default(),
            time: Mutex::new((Timestamp::now(), Instant::now())),
            store,
            catalog,
            config,
            waker,
        });
        let places = |(queue, steps): (&String, &usize)| (queue.clone(), Arc::new(Semaphore::new(*steps)));
        let places = shared.config.queues.iter().map(places).collect();
        let mut engine = Self { shared, places, schedulers: JoinSet::new(), tasks: JoinSet::new() };
        engine.spawn();
        Ok(engine)
    }

    fn spawn(&mut self) {
        let shared = &self.shared;
        self.tasks.spawn(Arc::clone(shared).keep_pauses());
        self.tasks.spawn(Arc::clone(shared).renew_leases());
        self.tasks.spawn(Arc::clone(shared).reclaim_at_boot());
        self.tasks.spawn(Arc::clone(shared).reap_the_dead());
        self.tasks.spawn(Arc::clone(shared).end_waits_on_time());
        self.tasks.spawn(Arc::clone(shared).fire_schedules_on_time());
        self.tasks.spawn(Arc::clone(shared).forget_history());
        self.tasks.spawn(Arc::clone(shared).purge_by_age());
        self.tasks.spawn(Arc::clone(shared).keep_limits());
        self.tasks.spawn(Arc::clone(shared).keep_presence());
        self.tasks.spawn(Arc::clone(shared).listen());
        let shares = shared.config.shares().map(Arc::new);
        for (queue, places) in &self.places {
            let Some(bell) = shared.waker.bells.of(queue).cloned() else { continue };
            let (shared, queue, places) = (Arc::clone(shared), queue.clone(), Arc::clone(places));
            let (limits, shares) = (Limits::default(), shares.clone());
            self.schedulers.spawn(Scheduler { limits, shared, queue, bell, places, shares }.run());
        }
    }

    /// What it did so far.
    pub fn stats(&self) -> &Stats {
        &self.shared.stats
    }

    /// The name its claims carry.
    pub fn name(&self) -> &str {
        self.shared.identity.name()
    }

    /// What runs now, a line each.
    pub fn running(&self) -> Vec<String> {
        self.shared.held.all().iter().map(|held| held.label()).collect()
    }

    /// Takes no new claims, waits for running steps until `hurry` resolves or the drain time is over; then tells the
    /// rest of the end, drops them, and gives their claims back.
    pub async fn drain(mut self, hurry: impl Future<Output = ()>) {
        self.shared.stopping.fire();
        self.shared.waker.bells.ring_all();
        // A claim on the wire is let in: dropped, its rows would wait for their lease.
        let claiming = async { while self.schedulers.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(LAST_CLAIM, claiming).await;
        tokio::select! {
            () = self.idle() => {}
            () = tokio::time::sleep(self.shared.config.drain) => {}
            () = hurry => {}
        }
        for held in self.shared.held.all() {
            tracing::info!(claim = held.label(), "gives its claim back");
            held.end();
        }
        // What is dropped gives its claim back by a commit; a database that does not answer ends the wait.
        let _ = tokio::time::timeout(Duration::from_secs(5), self.idle()).await;
        self.shared.stopped.store(true, Ordering::Release);
        self.tasks.shutdown().await;
        let _ = tokio::time::timeout(LAST_WORDS, self.shared.end_presence()).await;
        let _ = tokio::time::timeout(LAST_WORDS, self.shared.waker.notifier.flush()).await;
    }

    async fn idle(&self) {
        while self.shared.held.count() > 0 || self.busy_places() > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    fn busy_places(&self) -> usize {
        let free: usize = self.places.values().map(|places| places.available_permits()).sum();
        self.shared.config.steps_at_once().saturating_sub(free)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.shared.stopping.fire();
        self.shared.stopped.store(true, Ordering::Release);
        // Without renewals a run that goes on would run twice.
        self.shared.held.all().iter().for_each(|held| held.end());
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("name", &self.name()).finish_non_exhaustive()
    }
}
