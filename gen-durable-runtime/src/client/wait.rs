use std::{
    future::IntoFuture,
    marker::PhantomData,
    time::{Duration, Instant},
};

use super::{Client, inspect};
use crate::{
    Error,
    machine::Machine,
    model::{InstanceId, Status, Target},
    store::Standing,
};

/// Waits for an instance's end; await it. A dropped wait leaves nothing behind, and none holds a connection.
///
/// The result is looked for at once, then ever more seldom, up to every 250 ms.
#[must_use = "a wait does nothing unless it is awaited"]
pub struct Wait<M> {
    client: Client,
    target: Target,
    timeout: Option<Duration>,
    _machine: PhantomData<fn() -> M>,
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
    /// It has not ended yet.
    #[error("instance {id} has not ended: it is {status} at step {step}")]
    TimedOut {
        /// The instance.
        id: InstanceId,
        /// How it stood: due, executing or parked.
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

impl<M: Machine> Wait<M> {
    pub(super) fn new(client: Client, target: Target) -> Self {
        Self { client, target, timeout: None, _machine: PhantomData }
    }

    /// Ends with [`WaitError::TimedOut`] after this time; zero looks once.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    async fn run(self) -> Result<M::Output, WaitError> {
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
        let standing = self.client.0.waits.end_of(id, until).await?.ok_or_else(missing)?;
        inspect::is_of::<M>(&standing.machine)?;
        output::<M>(standing)
    }
}

fn output<M: Machine>(standing: Standing) -> Result<M::Output, WaitError> {
    let Standing { id, status, step, result, error, .. } = standing;
    match status {
        Status::Done => {
            let result = result.unwrap_or_else(|| crate::model::Json::stored("null"));
            Ok(M::load_output(&result).map_err(Error::from)?)
        }
        Status::Failed => Err(WaitError::Failed { id, reason: error.unwrap_or_default() }),
        Status::Runnable | Status::Executing | Status::AwaitingSignal | Status::AwaitingChildren => {
            Err(WaitError::TimedOut { id, status, step })
        }
    }
}

impl<M: Machine> IntoFuture for Wait<M> {
    type Output = Result<M::Output, WaitError>;
    type IntoFuture = std::pin::Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<M> std::fmt::Debug for Wait<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wait").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}
