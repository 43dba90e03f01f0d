use std::{any::TypeId, sync::Arc, time::Duration};

use super::RunningWorker;
use crate::{
    Error,
    client::Client,
    engine::{Catalog, Engine, EngineConfig, Handlers, define_limits},
    machine::{ConcurrencyKey, RateLimit, ServedBy, registry::AnyHandler},
    model::{Invalid, LimitTerms, Retention, admission::LimitKind},
    store::Migration,
};

/// Steps that execute at once in a queue that nothing was said of.
const STEPS_AT_ONCE: usize = 10;

/// A worker being built: it works every machine linked into this binary.
///
/// ```no_run
/// # use gen_durable_runtime::worker::Worker;
/// # struct Shop;
/// # async fn run() -> Result<(), gen_durable_runtime::Error> {
/// Worker::connect("postgres://localhost/shop").await?.handler(Shop).queue("checkout", 50).run().await
/// # }
/// ```
#[derive(Debug)]
pub struct Worker {
    client: Client,
    handlers: Handlers,
    config: EngineConfig,
    limits: Vec<(LimitKind, &'static str, LimitTerms)>,
    only: bool,
    migrate: bool,
}

impl Worker {
    /// A worker on this database. Its schema is brought up to date when the worker starts.
    ///
    /// # Errors
    /// When the URL cannot be read.
    pub async fn connect(url: impl Into<String>) -> Result<Self, Error> {
        Ok(Self::new(Client::options(url).open()?))
    }

    /// A worker on a client's database.
    pub fn new(client: Client) -> Self {
        let (handlers, config) = (Handlers::default(), EngineConfig::default());
        Self { client, handlers, config, limits: vec![], only: false, migrate: true }
    }

    /// Serves every machine that names this type (`handler(Shop)` or `register!`).
    #[must_use]
    pub fn handler<E: Send + Sync + 'static>(self, handler: E) -> Self {
        self.shared_handler(Arc::new(handler))
    }

    /// As [`Worker::handler`], for a handler that others hold as well.
    #[must_use]
    pub fn shared_handler<E: Send + Sync + 'static>(mut self, handler: Arc<E>) -> Self {
        self.handlers.add(handler);
        self
    }

    /// Serves one machine, whatever type it names: a generic handler, or a fake in a test.
    #[must_use]
    pub fn serve<M, E>(mut self, handler: E) -> Self
    where
        M: ServedBy<E> + 'static,
        E: Send + Sync + 'static,
    {
        let run = |handler: AnyHandler, run| match handler.downcast::<E>() {
            Ok(handler) => <M as ServedBy<E>>::run(handler, run),
            Err(_) => Box::pin(std::future::ready(Err("the handler is of another type".into()))),
        };
        self.handlers.serve(TypeId::of::<M>(), run, Arc::new(handler));
        self
    }

    /// Leaves machines that nobody serves here to other workers, instead of refusing to start: for a binary that links
    /// more than it works, and for a test of one machine.
    #[must_use]
    pub fn leave_unserved(mut self) -> Self {
        self.handlers.leave_unserved = true;
        self
    }

    /// How many steps of this queue execute at once. Default: 10 in each queue of its machines.
    #[must_use]
    pub fn queue(mut self, queue: impl Into<String>, steps_at_once: usize) -> Self {
        self.config.queues.insert(queue.into(), steps_at_once);
        self
    }

    /// How many steps execute at once in this process, in all its queues together. While several have work they share the places by
    /// their [`Worker::weight`]; what one does not need the others have, and none starves, also where there are fewer places than
    /// queues. A queue still runs no more than [`Worker::queue`] says of it; nothing said, it may have all. Default: each queue has its
    /// own places, and shares none.
    ///
    /// ```no_run
    /// # use gen_durable_runtime::worker::Worker;
    /// # async fn run() -> Result<(), gen_durable_runtime::Error> {
    /// let worker = Worker::connect("postgres://localhost/shop").await?;
    /// // Three quarters for checkout while both have work; mail never more than 10.
    /// worker.concurrency(40).weight("checkout", 3).weight("mail", 1).queue("mail", 10).run().await
    /// # }
    /// ```
    #[must_use]
    pub fn concurrency(mut self, steps_at_once: usize) -> Self {
        self.config.concurrency = Some(steps_at_once);
        self
    }

    /// This queue's part of the process's [`Worker::concurrency`], relative to the others'. Default: 1; up to 1,000.
    #[must_use]
    pub fn weight(mut self, queue: impl Into<String>, weight: u32) -> Self {
        self.config.weights.insert(queue.into(), weight);
        self
    }

    /// Says of rate limit `L` something else than its type does: for another environment, say. What is not said stays. An
    /// operator's word (`client.rate_limit::<L>().set(..)`, or the verb `limits set`) goes before it, and it before the type. It
    /// counts for all workers, from the boot on; two workers that differ overwrite each other, the last to boot wins.
    ///
    /// ```no_run
    /// # use gen_durable_runtime::{machine::RateLimit, model::LimitTerms, worker::Worker};
    /// # async fn run<Carrier: RateLimit>(worker: Worker) -> Result<(), gen_durable_runtime::Error> {
    /// let sandbox = LimitTerms::rate(5, std::time::Duration::from_secs(1)).burst(5);
    /// worker.rate_limit::<Carrier>(sandbox).run().await
    /// # }
    /// ```
    #[must_use]
    pub fn rate_limit<L: RateLimit>(mut self, terms: LimitTerms) -> Self {
        self.limits.push((LimitKind::Rate, L::NAME, terms));
        self
    }

    /// Says of the limit of concurrency key `K` something else than its type does, as [`Worker::rate_limit`]. The type must have a
    /// limit: a key of which one executes at a time is kept by an index.
    #[must_use]
    pub fn gate<K: ConcurrencyKey>(mut self, terms: LimitTerms) -> Self {
        self.limits.push((LimitKind::Gate, K::NAME, terms));
        self
    }

    /// Serves only the queues named by [`Worker::queue`].
    #[must_use]
    pub fn only_these_queues(mut self) -> Self {
        self.only = true;
        self
    }

    /// How long a claim stands without renewal. Default: 30 s.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.config.lease = lease;
        self
    }

    /// How often an idle queue is looked at where no wake-ups are heard. Default: 1 s. Where they are, it is the floor under lost
    /// ones, and longer: by twice the number of queues.
    #[must_use]
    pub fn poll(mut self, poll: Duration) -> Self {
        self.config.poll = poll;
        self
    }

    /// How often claims of dead workers are looked for. Default: 3 s.
    #[must_use]
    pub fn sweep(mut self, sweep: Duration) -> Self {
        self.config.sweep = sweep;
        self
    }

    /// How long a stopping worker waits for running steps. Default: 30 s.
    #[must_use]
    pub fn drain(mut self, drain: Duration) -> Self {
        self.config.drain = drain;
        self
    }

    /// How long lines of history are kept. Default: 30 days.
    #[must_use]
    pub fn history(mut self, keep: Duration) -> Self {
        self.config.history = keep;
        self
    }

    /// How long ended instances stay whose machine does not say so itself by `retention(..)`: those that are done, and those that
    /// have failed or were cancelled; `None` keeps them for good. Default: `None` for both, so nothing goes that nobody spoke of.
    ///
    /// With an instance go its inbox, its history, and its business key if it was `kept`. A child stays as long as its parent may
    /// read it: while that has not ended, or has failed and may be retried. Only machines that this worker serves are looked at; of
    /// two workers that say different times the shorter one wins. What comes of age goes within a minute, at most 1,000 instances
    /// at once; a child whose parent ended later than it came of age, within an hour. Who waits for an instance that went is told that
    /// there is none.
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # use gen_durable_runtime::worker::Worker;
    /// # async fn run() -> Result<(), gen_durable_runtime::Error> {
    /// const DAY: Duration = Duration::from_secs(24 * 3_600);
    /// let worker = Worker::connect("postgres://localhost/shop").await?.retention(Some(7 * DAY), None);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn retention(mut self, done: Option<Duration>, failed: Option<Duration>) -> Self {
        self.config.retention = Retention { done, failed };
        self
    }

    /// Rows a claim or a commit may have. Default: 1,000.
    #[must_use]
    pub fn batch(mut self, rows: u32) -> Self {
        self.config.batch = rows;
        self
    }

    /// Steps an instance runs in a row before others get its place. Default: 64; 1 requeues after each step.
    #[must_use]
    pub fn steps_in_place(mut self, steps: u32) -> Self {
        self.config.in_place = steps;
        self
    }

    /// Leaves the schema as it is: a role without the right to change it, or a separate deployment step.
    #[must_use]
    pub fn without_migration(mut self) -> Self {
        self.migrate = false;
        self
    }

    /// Its client.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Checks everything, migrates, and starts to work.
    ///
    /// # Errors
    /// One message with every reason not to start: no machine linked, one that nobody serves, two with one name, an
    /// annotation that this engine cannot honour, terms under which a step could never pass its limit, a schema that it cannot work
    /// on.
    pub async fn start(self) -> Result<RunningWorker, Error> {
        let Self { client, handlers, mut config, limits, only, migrate } = self;
        let mut catalog = Catalog::resolve(&handlers, client.store().dialect())?;
        let faults = catalog.say_of_limits(&limits);
        if !faults.is_empty() {
            return Err(Error::boot(faults.join("\n")));
        }
        if !only {
            let steps = config.concurrency.unwrap_or(STEPS_AT_ONCE);
            for queue in catalog.queues() {
                config.queues.entry(queue.to_owned()).or_insert(steps);
            }
        }
        if config.queues.is_empty() {
            return Err(Invalid::new("queue", "is missing: the worker serves no queue").into());
        }
        config.check()?;
        if migrate {
            client.migrate(Migration::default()).await?;
        }
        client.check().await?;
        let steps: usize = config.queues.values().sum();
        for warning in client.store().warnings(steps.min(config.concurrency.unwrap_or(steps))) {
            tracing::warn!("{warning}");
        }
        let machines: Vec<String> = catalog.machines().iter().map(|m| format!("{} v{}", m.name, m.version)).collect();
        let queues: Vec<String> = config.queues.iter().map(|(queue, steps)| format!("{queue} ({steps})")).collect();
        define_limits(client.store(), &catalog).await?;
        let engine = Engine::start(client.store().clone(), client.notifier().clone(), catalog, config)?;
        let (machines, queues) = (machines.join(", "), queues.join(", "));
        tracing::info!(database = client.describe(), machines, queues, worker = engine.name(), "working");
        Ok(RunningWorker::new(client, engine))
    }

    /// Works until Ctrl-C or SIGTERM, then drains: no new claims, running steps finish or give their claims back. A
    /// second signal does not wait for them.
    ///
    /// # Errors
    /// As [`Worker::start`].
    pub async fn run(self) -> Result<(), Error> {
        self.start().await?.run_until_signal().await;
        Ok(())
    }
}
