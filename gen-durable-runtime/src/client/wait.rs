use std::{
    future::IntoFuture,
    marker::PhantomData,
    pin::Pin,
    time::{Duration, Instant},
};

use super::{
    Client, inspect,
    waiter::{Found, Goal},
};
use crate::{
    Error,
    machine::Machine,
    model::{InstanceId, Json, Status, Target},
    store::Standing,
};

/// Waits for an instance: for its end ([`Handle::wait`](super::Handle::wait)), for a step, or for a park. Await it.
///
/// A dropped wait leaves nothing behind, and none holds a connection: one task looks after all waits of a client. While
/// there are any it has one connection that listens, and workers tell it what they committed: a result of another
/// process comes within 50 ms. The instance is looked at as well: at once, then ever more seldom, up to every second;
/// every 250 ms where nothing can be heard, as behind a transaction pooler or while that connection is lost. (A worker
/// behind a pooler does not hear that somebody waits: its results come within the second.)
///
/// ```ignore
/// let receipt = order.wait().timeout(Duration::from_secs(30)).await?;
/// ```
#[must_use = "a wait does nothing unless it is awaited"]
pub struct Wait<M, F = ForEnd> {
    client: Client,
    target: Target,
    goal: Goal,
    timeout: Option<Duration>,
    _of: PhantomData<fn() -> (M, F)>,
}

/// A wait for the end: it gives the machine's output.
#[derive(Debug)]
pub enum ForEnd {}
/// A wait for a step or a park: it gives how the instance was [`Seen`].
#[derive(Debug)]
pub enum ForPlace {}

/// How an instance stood when a wait for a step or a park was over.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Seen {
    /// The instance.
    pub id: InstanceId,
    /// Its stored step name: it may be further on than where it was waited for.
    pub step: String,
    /// Whether it is due, executes, is parked, or has ended.
    pub status: Status,
}

/// Why a wait ended without a result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WaitError {
    /// The instance ended as failed.
    #[error("instance {id} failed: {reason}")]
    Failed {
        /// The instance.
        id: InstanceId,
        /// Why.
        reason: String,
    },
    /// Its time was up before that.
    #[error("the wait for instance {id} timed out: it is {status} at step {step}")]
    TimedOut {
        /// The instance.
        id: InstanceId,
        /// How it stood: due, executing or parked.
        status: Status,
        /// Where.
        step: String,
    },
    /// It ended without having been seen at the step, or parked, as it was waited for.
    #[error("instance {id} ended as {status} at step {step}: it was not seen where it was waited for")]
    Ended {
        /// The instance.
        id: InstanceId,
        /// Done or failed.
        status: Status,
        /// Where.
        step: String,
    },
    /// It does not exist, or was removed while it was waited for.
    #[error("{0} does not exist")]
    NotFound(String),
    /// The store's, or its result does not decode, or the client was closed.
    #[error(transparent)]
    Other(#[from] Error),
}

impl<M: Machine, F> Wait<M, F> {
    pub(super) fn new(client: Client, target: Target, goal: Goal) -> Self {
        Self { client, target, goal, timeout: None, _of: PhantomData }
    }

    /// Ends with [`WaitError::TimedOut`] after this time; zero looks once.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    async fn found(&self) -> Result<Found, WaitError> {
        let missing = || WaitError::NotFound(inspect::named(&self.target));
        let id = match &self.target {
            Target::Id(id) => *id,
            key @ Target::Key(_) => {
                key.check().map_err(Error::from)?;
                self.client.0.store.show(key).await?.ok_or_else(missing)?.id
            }
        };
        // A time-out beyond the clock's end is none.
        let until = self.timeout.and_then(|t| Instant::now().checked_add(t));
        let found = self.client.0.waits.wait(id, M::INFO, self.goal, until).await?.ok_or_else(missing)?;
        inspect::is_of::<M>(&found.standing.machine)?;
        Ok(found)
    }

    async fn place(self) -> Result<Seen, WaitError> {
        let Found { standing: Standing { id, status, step, .. }, met } = self.found().await?;
        if met || (status.is_ended() && self.was_passed(id).await?) {
            return Ok(Seen { id, step, status });
        }
        Err(if status.is_ended() {
            WaitError::Ended { id, status, step }
        } else {
            WaitError::TimedOut { id, status, step }
        })
    }

    /// Whether an instance that has ended was at the step, by its history: between two looks, and nobody told.
    async fn was_passed(&self, id: InstanceId) -> Result<bool, Error> {
        let Goal::Step(name) = self.goal else { return Ok(false) };
        let is_it = |stored: &str| M::INFO.step(stored).is_some_and(|step| step.name == name);
        let lines = self.client.history(id).await?;
        Ok(lines.iter().any(|line| is_it(&line.from) || line.to.as_deref().is_some_and(is_it)))
    }
}

fn output<M: Machine>(standing: Standing) -> Result<M::Output, WaitError> {
    let Standing { id, status, step, result, error, .. } = standing;
    match status {
        Status::Done => {
            let result = result.unwrap_or_else(|| Json::stored("null"));
            Ok(M::load_output(&result).map_err(Error::from)?)
        }
        Status::Failed => Err(WaitError::Failed { id, reason: error.unwrap_or_default() }),
        Status::Runnable | Status::Executing | Status::AwaitingSignal | Status::AwaitingChildren => {
            Err(WaitError::TimedOut { id, status, step })
        }
    }
}

impl<M: Machine> IntoFuture for Wait<M, ForEnd> {
    type Output = Result<M::Output, WaitError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { output::<M>(self.found().await?.standing) })
    }
}

impl<M: Machine> IntoFuture for Wait<M, ForPlace> {
    type Output = Result<Seen, WaitError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.place())
    }
}

impl<M, F> std::fmt::Debug for Wait<M, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wait").field("goal", &self.goal).field("timeout", &self.timeout).finish_non_exhaustive()
    }
}
