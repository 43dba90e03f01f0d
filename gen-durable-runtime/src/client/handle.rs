use std::marker::PhantomData;

use super::{Client, Signalling, Wait, wait::ForPlace, waiter::Goal};
use crate::{
    Error,
    machine::{Awaits, IntoKey, Keyed, Machine, Signal, Step},
    model::{HistoryEntry, InstanceId, Reason, SignalSpec, Snapshot, Started, Target},
};

/// An instance of machine `M`, by its id or its business key.
///
/// ```ignore
/// let order = client.start(start(Reserve { order: 7 })).await?;      // or: client.of::<Checkout>(7)
/// order.signal(PaymentConfirmed { payment: 1 }).await?;
/// let receipt = order.wait().await?;
/// ```
pub struct Handle<M> {
    client: Client,
    target: Target,
    started: Option<Started>,
    _machine: PhantomData<fn() -> M>,
}

impl Client {
    /// The instance of `M` that occupies this business key, whichever it is when it is used.
    pub fn of<M: Keyed>(&self, key: impl IntoKey<M::Key>) -> Handle<M> {
        Handle::to(self.clone(), Target::Key(M::business_key(key)))
    }

    /// The instance of `M` with this id. That it is one is checked where its data is read.
    pub fn by_id<M: Machine>(&self, id: InstanceId) -> Handle<M> {
        Handle::to(self.clone(), Target::Id(id))
    }
}

impl<M> Handle<M> {
    fn to(client: Client, target: Target) -> Self {
        Self { client, target, started: None, _machine: PhantomData }
    }

    pub(super) fn started(client: Client, started: Started) -> Self {
        Self { started: Some(started), ..Self::to(client, Target::Id(started.id())) }
    }

    /// Whether the `start` that made this handle started the instance: `false` when its business key was occupied.
    pub fn is_new(&self) -> bool {
        self.started.is_some_and(Started::is_new)
    }

    /// The id, if it is known: it is for a handle made by `start` or by id.
    pub fn id(&self) -> Option<InstanceId> {
        match self.target {
            Target::Id(id) => Some(id),
            Target::Key(_) => None,
        }
    }

    /// The same instance, by another client.
    #[cfg(feature = "testing")]
    pub(crate) fn on(&self, client: &Client) -> Self {
        Self::to(client.clone(), self.target.clone())
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// Whom it addresses.
    pub fn target(&self) -> &Target {
        &self.target
    }
}

impl<M: Machine> Handle<M> {
    /// Sends a signal that the machine awaits; any other does not compile.
    pub fn signal<G, SLOT>(&self, signal: G) -> Signalling
    where
        M: Awaits<G, SLOT>,
        G: Signal,
    {
        let name = G::NAME.to_owned();
        let spec = signal.payload();
        let spec = spec.map(|payload| SignalSpec { target: self.target.clone(), name, payload, dedup: None });
        Signalling::new(self.client.clone(), spec)
    }

    /// Waits for the end, for ever or for [`Wait::timeout`].
    ///
    /// An instance that a caller's transaction started does not exist before that commits: wait after it.
    pub fn wait(&self) -> Wait<M> {
        Wait::new(self.client.clone(), self.target.clone(), Goal::End)
    }

    /// Waits until the instance is at step `S` of its machine: due, parked, at work, or ended there.
    ///
    /// A step that it leaves before anyone looked counts all the same: workers tell of it (on SQLite those of this
    /// process), and once it has ended so does its history, if the machine keeps one. Otherwise an instance that has
    /// ended is [`WaitError::Ended`](super::WaitError::Ended).
    ///
    /// ```ignore
    /// order.wait_for_step::<Ship>().timeout(Duration::from_secs(30)).await?;
    /// ```
    pub fn wait_for_step<S: Step<Machine = M>>(&self) -> Wait<M, ForPlace> {
        Wait::new(self.client.clone(), self.target.clone(), Goal::Step(S::NAME))
    }

    /// Waits until the instance waits itself, for signals or for children; at whichever step. A timer is no park.
    ///
    /// A park that is over before anyone looked counts where a worker tells of it: on SQLite one of this process.
    ///
    /// ```ignore
    /// let seen = order.wait_parked().await?;
    /// println!("{} is {} at {}", seen.id, seen.status, seen.step);
    /// ```
    pub fn wait_parked(&self) -> Wait<M, ForPlace> {
        Wait::new(self.client.clone(), self.target.clone(), Goal::Park)
    }

    /// The instance as the enum: its step, with its data.
    ///
    /// # Errors
    /// `is_not_found`; when it is of another machine or its data does not decode; or the store's.
    pub async fn get(&self) -> Result<M, Error> {
        self.client.read(&self.target).await
    }

    /// The instance as it stands.
    ///
    /// # Errors
    /// `is_not_found`, or the store's.
    pub async fn show(&self) -> Result<Snapshot, Error> {
        self.client.show(&self.target).await
    }

    /// Why it is not running: see [`Client::why`].
    ///
    /// # Errors
    /// `is_not_found`, or the store's.
    pub async fn why(&self) -> Result<Vec<Reason>, Error> {
        self.client.why(&self.target).await
    }

    /// What became of its runs, oldest first: see [`Client::history`].
    ///
    /// # Errors
    /// `is_not_found`, or the store's.
    pub async fn history(&self) -> Result<Vec<HistoryEntry>, Error> {
        let id = match self.id() {
            Some(id) => id,
            None => self.show().await?.id,
        };
        self.client.history(id).await
    }
}

impl<M> Clone for Handle<M> {
    fn clone(&self) -> Self {
        Self { started: self.started, ..Self::to(self.client.clone(), self.target.clone()) }
    }
}

impl<M> std::fmt::Debug for Handle<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handle").field("id", &self.id()).finish_non_exhaustive()
    }
}
