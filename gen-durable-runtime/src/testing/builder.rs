use std::{any::TypeId, sync::Arc};

use tokio::sync::Mutex;

use super::{TestKit, TestTransaction, place::Place, within::Within};
use crate::{
    Error,
    client::Client,
    engine::{Catalog, Handlers, Inline},
    machine::{ServedBy, registry::AnyHandler},
    store::{
        DatabaseOptions, Migration,
        sqlite::{Clock, Sqlite},
    },
};

/// Runs of one drain before it is taken for endless.
const STEP_CAP: usize = 10_000;

/// A test kit being built: who serves which machine.
#[derive(Debug)]
pub struct TestKitBuilder {
    client: Client,
    clock: Clock,
    place: Option<Place>,
    within: Option<Within>,
    handlers: Handlers,
    step_cap: usize,
    leave_due: bool,
}

impl TestKitBuilder {
    pub(super) async fn open() -> Result<Self, Error> {
        let place = Place::new().map_err(|error| Error::boot(format!("no temporary directory: {error}")))?;
        // What is written need not survive a power cut.
        let url = format!("sqlite://{}?synchronous=normal", place.path().join("kit.db").display());
        let (clock, options) = (Clock::standing_now(), DatabaseOptions { pool_size: 2, ..DatabaseOptions::new(url) });
        let client = Client::on(Arc::new(Sqlite::with_clock(options, clock.clone())?));
        client.migrate(Migration::default()).await?;
        Ok(Self::on(client, clock, Some(place), None))
    }

    pub(super) async fn open_within(client: &Client, transaction: TestTransaction) -> Result<Self, Error> {
        let (within, store, clock) = Within::lend(client, transaction).await?;
        Ok(Self::on(Client::on(store), clock, None, Some(within)))
    }

    fn on(client: Client, clock: Clock, place: Option<Place>, within: Option<Within>) -> Self {
        // A test serves what it tests: other machines of the binary are none of its business.
        let mut handlers = Handlers::default();
        handlers.leave_unserved = true;
        Self { client, clock, place, within, handlers, step_cap: STEP_CAP, leave_due: false }
    }

    /// A client of the kit's store: for a handler that keeps tables of its own beside it. Where the kit is within a
    /// transaction, connections to its URL see nothing of that.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Serves every machine that names this type (`handler(Shop)` or `register!`).
    #[must_use]
    pub fn handler<E: Send + Sync + 'static>(self, handler: E) -> Self {
        self.shared_handler(Arc::new(handler))
    }

    /// As [`TestKitBuilder::handler`], for a handler that the test looks into as well.
    #[must_use]
    pub fn shared_handler<E: Send + Sync + 'static>(mut self, handler: Arc<E>) -> Self {
        self.handlers.add(handler);
        self
    }

    /// Serves one machine, whatever type it names: a fake.
    #[must_use]
    pub fn serve<M, E>(self, handler: E) -> Self
    where
        M: ServedBy<E> + 'static,
        E: Send + Sync + 'static,
    {
        self.serve_shared::<M, E>(Arc::new(handler))
    }

    /// As [`TestKitBuilder::serve`], for a fake that the test looks into as well.
    #[must_use]
    pub fn serve_shared<M, E>(mut self, handler: Arc<E>) -> Self
    where
        M: ServedBy<E> + 'static,
        E: Send + Sync + 'static,
    {
        let run = |handler: AnyHandler, run| match handler.downcast::<E>() {
            Ok(handler) => <M as ServedBy<E>>::run(handler, run),
            Err(_) => Box::pin(std::future::ready(Err("the handler is of another type".into()))),
        };
        self.handlers.serve(TypeId::of::<M>(), run, handler);
        self
    }

    /// How many runs one drain may have. Default: 10,000.
    #[must_use]
    pub fn step_cap(mut self, runs: usize) -> Self {
        self.step_cap = runs;
        self
    }

    /// Leaves rows that are due and that nobody serves here, instead of failing the drain: children or spawned instances
    /// of a machine that is not tested.
    #[must_use]
    pub fn leave_unserved(mut self) -> Self {
        self.leave_due = true;
        self
    }

    /// Makes the kit.
    ///
    /// # Panics
    /// With every reason not to start, as a worker would give it.
    #[track_caller]
    pub fn build(self) -> TestKit {
        let Self { client, clock, place, within, handlers, step_cap, leave_due } = self;
        let catalog = match Catalog::resolve(&handlers, client.store().dialect()) {
            Ok(catalog) => catalog,
            Err(faults) => panic!("{faults}"),
        };
        let inline = Mutex::new(Inline::new(client.store().clone(), client.notifier().clone(), catalog));
        TestKit { client, clock, inline, step_cap, leave_due, within, _place: place }
    }
}
