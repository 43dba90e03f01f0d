use std::{
    future::{Future, IntoFuture},
    panic::Location,
    time::Duration,
};

use jiff::Timestamp;
use tokio::sync::Mutex;

use super::{
    DrainError, Look, TestConnection, TestKitBuilder, TestTransaction,
    drain::Steps,
    place::Place,
    report::{or_stop, stop},
    within::Within,
};
use crate::{
    Error,
    client::{Client, Handle, SignalReceipt},
    engine::{Inline, Next, Ran},
    machine::{Awaits, Machine, Signal, Startable},
    model::limits,
    store::sqlite::Clock,
};

/// The shortest time that a clock here moves by.
const TICK: Duration = Duration::from_micros(1);

/// Works machines to where they wait, when the test says so: by the engine's own parts, on a private store, without
/// tasks, in an order that is always the same.
///
/// Time stands still until the test moves it. What a step asks for "later" (a delay, a backoff, a timeout) is due once
/// [`TestKit::advance`] has brought the clock there.
///
/// A handler that panics fails its step, as it would in a worker: [`TestKit::look`] shows it.
pub struct TestKit {
    pub(super) client: Client,
    pub(super) clock: Clock,
    pub(super) inline: Mutex<Inline>,
    pub(super) step_cap: usize,
    pub(super) leave_due: bool,
    pub(super) within: Option<Within>,
    pub(super) _place: Option<Place>,
}

impl TestKit {
    /// Begins one, on a private file that goes with it: say who serves what, then [`TestKitBuilder::build`]. Within a
    /// tokio runtime.
    ///
    /// # Panics
    /// When there is no place for temporary files.
    #[track_caller]
    pub fn builder() -> impl Future<Output = TestKitBuilder> + Send {
        let at = Location::caller();
        async move { or_stop(TestKitBuilder::open().await, at, "cannot make a kit") }
    }

    /// Begins one inside a transaction that the test has begun, on the database of `client`: what the test wrote in it
    /// and the instances that it started there are drained where they stand, and nothing is ever committed. Each commit of
    /// a step is a savepoint.
    ///
    /// The outcome's own writes (`in_transaction`) are in it too; what a handler writes on another connection is not, and
    /// sees nothing of it. Rows that others have committed and that are due run as well. Tests that run at the same time on one
    /// database need business and concurrency keys of their own: the second of two waits for the first one's end. On
    /// SQLite begin with `BEGIN IMMEDIATE`.
    ///
    /// ```ignore
    /// let mut tx = pool.begin().await?;
    /// sqlx::query("INSERT INTO orders (id) VALUES (7)").execute(&mut *tx).await?;
    /// let order = client.in_transaction(&mut tx).start(start(Reserve { order: 7 })).await?;
    /// let kit = TestKit::within(&client, tx).await.handler(shop).build();
    /// kit.drain().await;
    /// kit.look(&order).await.at_step::<AwaitPayment>();
    /// let mut mine = kit.connection().await;
    /// let state: String = sqlx::query_scalar("SELECT state FROM orders").fetch_one(mine.postgres()).await?;
    /// drop(mine);
    /// kit.rollback().await;
    /// ```
    ///
    /// # Panics
    /// When the client is on another store, or the database fails.
    #[track_caller]
    pub fn within(
        client: &Client,
        transaction: impl Into<TestTransaction>,
    ) -> impl Future<Output = TestKitBuilder> + Send {
        let (at, client, transaction) = (Location::caller(), client.clone(), transaction.into());
        async move { or_stop(TestKitBuilder::open_within(&client, transaction).await, at, "cannot make a kit") }
    }

    /// The connection of the transaction that this kit was begun in, for the test's own statements. The kit waits while it
    /// stands: drop it before the next drain.
    ///
    /// # Panics
    /// When the kit has a store of its own.
    #[track_caller]
    pub fn connection(&self) -> impl Future<Output = TestConnection> {
        let at = Location::caller();
        async move {
            let Some(within) = &self.within else { stop(at, "this kit is not within a transaction") };
            within.connection().await.unwrap_or_else(|error| stop(at, error))
        }
    }

    /// Ends the kit. A transaction that it was begun in is rolled back, at once.
    ///
    /// # Panics
    /// When the database fails.
    #[track_caller]
    pub fn rollback(self) -> impl Future<Output = ()> {
        let at = Location::caller();
        async move {
            if let Some(within) = &self.within {
                within.roll_back().await.unwrap_or_else(|error| stop(at, error));
            }
        }
    }

    /// A client of the kit's store, for all that a client can.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The kit's time: the machine's when the kit was made, and where the test moved it since. `cx.now()` is the same.
    pub fn now(&self) -> Timestamp {
        Timestamp::from_microsecond(self.clock.now()).unwrap_or(Timestamp::MAX)
    }

    /// Starts an instance. It runs with the next drain.
    ///
    /// # Panics
    /// When it cannot be stored.
    #[track_caller]
    pub fn start<S: Startable>(&self, start: S) -> impl Future<Output = Handle<S::Machine>> {
        let at = Location::caller();
        async move { or_stop(self.client.start(start).await, at, "cannot start") }
    }

    /// Sends a signal that the machine awaits; any other does not compile.
    ///
    /// # Panics
    /// When the instance has ended or never was. ([`Handle::signal`] returns that as an error.)
    #[track_caller]
    pub fn signal<M, G, SLOT>(&self, to: &Handle<M>, signal: G) -> impl Future<Output = SignalReceipt>
    where
        M: Machine + Awaits<G, SLOT>,
        G: Signal,
    {
        // A handle that the test made by its own client, outside, is as good.
        let (at, signalling) = (Location::caller(), to.on(&self.client).signal(signal));
        async move { or_stop(signalling.into_future().await, at, "cannot signal") }
    }

    /// Runs everything that is due, one row after the other, until nothing is: children, spawned instances and retries
    /// that are due included. How many runs there were.
    ///
    /// # Panics
    /// After as many runs as the step cap allows, and when rows are due that nobody serves here.
    #[track_caller]
    pub fn drain(&self) -> impl Future<Output = usize> {
        let at = Location::caller();
        async move { self.try_drain().await.unwrap_or_else(|error| stop(at, error)) }
    }

    /// As [`TestKit::drain`].
    ///
    /// # Errors
    /// Where that panics.
    pub async fn try_drain(&self) -> Result<usize, DrainError> {
        let mut steps = Steps::new(self.step_cap);
        self.drain_within(&mut steps).await?;
        Ok(steps.runs)
    }

    /// Runs the one row that is due next; `None` when nothing is.
    ///
    /// # Panics
    /// When the store fails.
    #[track_caller]
    pub fn run_next(&self) -> impl Future<Output = Option<Ran>> {
        let at = Location::caller();
        async move {
            match or_stop(self.inline.lock().await.next().await, at, "cannot run") {
                Next::Ran(ran) => Some(ran),
                Next::Idle(_) => None,
            }
        }
    }

    /// Moves the clock. What is due by then runs with the next drain: rows first, then those whose wait has timed out. A
    /// signal that comes before that drain still counts, as it does with a worker that is late. To run everything at its
    /// own moment there is [`TestKit::run_for`].
    ///
    /// # Panics
    /// Above 100 years.
    #[track_caller]
    pub fn advance(&self, by: Duration) {
        match limits::delay("advance", by) {
            Ok(()) => self.clock.advance(by),
            Err(invalid) => stop(Location::caller(), invalid),
        }
    }

    /// As time really passes: drains, moves the clock to when the next row is due, drains, and so on for this long. How
    /// many runs there were.
    ///
    /// # Panics
    /// As [`TestKit::drain`], with one step cap for all of it.
    #[track_caller]
    pub fn run_for(&self, span: Duration) -> impl Future<Output = usize> {
        let at = Location::caller();
        async move { self.try_run_for(span).await.unwrap_or_else(|error| stop(at, error)) }
    }

    /// As [`TestKit::run_for`].
    ///
    /// # Errors
    /// Where that panics.
    pub async fn try_run_for(&self, span: Duration) -> Result<usize, DrainError> {
        limits::delay("span", span).map_err(Error::from)?;
        let (mut steps, end) = (Steps::new(self.step_cap), self.now().checked_add(span).unwrap_or(Timestamp::MAX));
        loop {
            let next = self.drain_within(&mut steps).await?;
            let left = end.duration_since(self.now()).unsigned_abs();
            if left.is_zero() {
                return Ok(steps.runs);
            }
            let until = next.map_or(left, |at| at.duration_since(self.now()).unsigned_abs());
            self.clock.advance(until.clamp(TICK, left));
        }
    }

    /// Looks at an instance, to say what is expected of it.
    ///
    /// # Panics
    /// When there is no such instance of this machine.
    #[track_caller]
    pub fn look<M: Machine>(&self, at: &Handle<M>) -> impl Future<Output = Look<M>> {
        let (caller, handle) = (Location::caller(), at.on(&self.client));
        async move { or_stop(Look::at(&self.client, &handle, self.now()).await, caller, "cannot look") }
    }
}

impl std::fmt::Debug for TestKit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TestKit").field("now", &self.now()).finish_non_exhaustive()
    }
}
