use std::{fmt, future::Future, marker::PhantomData, pin::Pin, sync::Arc};

use super::{Machine, StepError};
use crate::model::{InstanceId, Json};

/// The children of one machine that a join step waited for. Their results are read when asked for.
pub struct Joined<M> {
    source: Arc<dyn ChildSource>,
    _machine: PhantomData<fn() -> M>,
}

/// Where the children of a join step are read.
pub trait ChildSource: fmt::Debug + Send + Sync {
    /// How the children of this machine stand.
    fn counts(&self, machine: &'static str) -> ChildCounts;
    /// The ended children of this machine, in the order in which they were started.
    fn results(&self, machine: &'static str) -> ResultsFuture;
}

/// What [`ChildSource::results`] returns.
pub type ResultsFuture = Pin<Box<dyn Future<Output = Result<Vec<ChildResult>, StepError>> + Send>>;

/// How many children there are, and how many of them ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChildCounts {
    /// Started in this round.
    pub started: u64,
    /// Ended with a result.
    pub done: u64,
    /// Ended as failed.
    pub failed: u64,
}

/// One child that ended: its result, or why it failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChildResult {
    /// The child.
    pub id: InstanceId,
    /// Its result as it is stored.
    pub result: Result<Json, String>,
}

/// A child that failed. `?` on it is a permanent error of the step: trying again would not change it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChildFailed {
    /// The child.
    pub id: InstanceId,
    /// Why it failed.
    pub reason: String,
}

impl ChildCounts {
    /// Of a source that counts.
    pub fn new(started: u64, done: u64, failed: u64) -> Self {
        Self { started, done, failed }
    }
}

impl fmt::Display for ChildFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "child {} failed: {}", self.id, self.reason)
    }
}

impl std::error::Error for ChildFailed {}

impl<M> Joined<M> {
    /// For unit tests and the engine.
    pub fn new(source: Arc<dyn ChildSource>) -> Self {
        Self { source, _machine: PhantomData }
    }
}

impl<M: Machine> Joined<M> {
    /// Whether all have ended: false after a timeout or a quorum.
    pub fn complete(&self) -> bool {
        let ChildCounts { started, done, failed } = self.counts();
        done + failed >= started
    }

    /// How they stand.
    pub fn counts(&self) -> ChildCounts {
        self.source.counts(M::NAME)
    }

    /// The results of all, in the order in which they were started, or the first failure.
    ///
    /// # Errors
    /// [`ChildFailed`] for the first child that failed; what the store or the decoder says.
    pub async fn results(&self) -> Result<Vec<M::Output>, StepError> {
        let ended = self.source.results(M::NAME).await?;
        ended.into_iter().map(|child| output::<M>(child)?.map_err(StepError::from)).collect()
    }

    /// The result or the failure of each, in the order in which they were started.
    ///
    /// # Errors
    /// What the store or the decoder says.
    pub async fn each(&self) -> Result<Vec<Result<M::Output, ChildFailed>>, StepError> {
        let ended = self.source.results(M::NAME).await?;
        ended.into_iter().map(output::<M>).collect()
    }
}

fn output<M: Machine>(child: ChildResult) -> Result<Result<M::Output, ChildFailed>, StepError> {
    let ChildResult { id, result } = child;
    match result {
        Ok(json) => M::load_output(&json).map(Ok).map_err(StepError::undecodable),
        Err(reason) => Ok(Err(ChildFailed { id, reason })),
    }
}

/// A run without children: what a join sees whose engine gave it none.
#[derive(Debug)]
pub(super) struct NoChildren;

impl ChildSource for NoChildren {
    fn counts(&self, _: &'static str) -> ChildCounts {
        ChildCounts::default()
    }
    fn results(&self, _: &'static str) -> ResultsFuture {
        Box::pin(std::future::ready(Ok(vec![])))
    }
}

impl<M> fmt::Debug for Joined<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Joined").field(&self.source).finish()
    }
}
