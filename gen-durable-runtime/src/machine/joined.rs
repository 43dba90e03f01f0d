use std::{collections::VecDeque, fmt, future::Future, marker::PhantomData, pin::Pin, sync::Arc};

use super::{Machine, MachineInfo, StepError};
use crate::model::{InstanceId, Json};

/// The children of one machine that a join step waited for. Their results are read when asked for.
///
/// What it shows was settled when the wait ended: a child that ends later counts no more, however often the step runs.
pub struct Joined<M> {
    source: Arc<dyn ChildSource>,
    _machine: PhantomData<fn() -> M>,
}

/// Where the children of a join step are read.
pub trait ChildSource: fmt::Debug + Send + Sync {
    /// How the children of this machine stand.
    fn counts(&self, machine: &'static MachineInfo) -> ChildCounts;
    /// The children of this machine that have ended, in the order of the fan-out: some of those whose place is above
    /// `after` (-1 for the first ones), and none only when there are no more.
    fn page(&self, machine: &'static MachineInfo, after: i64) -> PageFuture;
}

/// What [`ChildSource::page`] returns.
pub type PageFuture = Pin<Box<dyn Future<Output = Result<Vec<ChildResult>, StepError>> + Send>>;

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
    /// Its place in the fan-out, from 0: of all children that were given, whatever their machine.
    pub index: u32,
    /// Its result as it is stored.
    pub result: Result<Json, String>,
}

/// A child that failed. `?` on it is a permanent error of the step: trying again would not change it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChildFailed {
    /// The child.
    pub id: InstanceId,
    /// Its place in the fan-out, from 0: of all children that were given, whatever their machine.
    pub index: u32,
    /// Why it failed.
    pub reason: String,
}

impl ChildCounts {
    /// Of a source that counts.
    pub fn new(started: u64, done: u64, failed: u64) -> Self {
        Self { started, done, failed }
    }

    /// Not ended.
    pub fn pending(&self) -> u64 {
        self.started.saturating_sub(self.done + self.failed)
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
        self.counts().pending() == 0
    }

    /// How they stand.
    pub fn counts(&self) -> ChildCounts {
        self.source.counts(M::INFO)
    }

    /// The results of all, in the order of the fan-out, or the first failure.
    ///
    /// # Errors
    /// [`ChildFailed`] for the first child that failed; what the store or the decoder says.
    pub async fn results(&self) -> Result<Vec<M::Output>, StepError> {
        let (mut all, mut children) = (Vec::new(), self.stream());
        while let Some(child) = children.next().await? {
            all.push(child?);
        }
        Ok(all)
    }

    /// The result or the failure of each, in the order of the fan-out.
    ///
    /// # Errors
    /// What the store or the decoder says.
    pub async fn each(&self) -> Result<Vec<Result<M::Output, ChildFailed>>, StepError> {
        let (mut all, mut children) = (Vec::new(), self.stream());
        while let Some(child) = children.next().await? {
            all.push(child);
        }
        Ok(all)
    }

    /// One after the other, in the order of the fan-out, read in pages: for more children than should be in memory.
    ///
    /// ```ignore
    /// let mut children = joined.stream();
    /// while let Some(child) = children.next().await? {
    ///     total += child?;
    /// }
    /// ```
    pub fn stream(&self) -> Children<M> {
        Children { source: Arc::clone(&self.source), after: -1, page: VecDeque::new(), _machine: PhantomData }
    }
}

/// The children of a join step, one after the other: made by [`Joined::stream`].
pub struct Children<M> {
    source: Arc<dyn ChildSource>,
    after: i64,
    page: VecDeque<ChildResult>,
    _machine: PhantomData<fn() -> M>,
}

impl<M: Machine> Children<M> {
    /// The next one; `None` after the last.
    ///
    /// # Errors
    /// What the store or the decoder says.
    pub async fn next(&mut self) -> Result<Option<Result<M::Output, ChildFailed>>, StepError> {
        if self.page.is_empty() {
            self.page = self.source.page(M::INFO, self.after).await?.into();
        }
        let Some(child) = self.page.pop_front() else { return Ok(None) };
        self.after = i64::from(child.index);
        output::<M>(child).map(Some)
    }
}

impl<M> fmt::Debug for Children<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Children").field("after", &self.after).finish_non_exhaustive()
    }
}

fn output<M: Machine>(child: ChildResult) -> Result<Result<M::Output, ChildFailed>, StepError> {
    let ChildResult { id, index, result } = child;
    match result {
        Ok(json) => M::load_output(&json).map(Ok).map_err(StepError::undecodable),
        Err(reason) => Ok(Err(ChildFailed { id, index, reason })),
    }
}

/// A run without children: what a join sees whose engine gave it none.
#[derive(Debug)]
pub(super) struct NoChildren;

impl ChildSource for NoChildren {
    fn counts(&self, _: &'static MachineInfo) -> ChildCounts {
        ChildCounts::default()
    }
    fn page(&self, _: &'static MachineInfo, _: i64) -> PageFuture {
        Box::pin(std::future::ready(Ok(vec![])))
    }
}

impl<M> fmt::Debug for Joined<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Joined").field(&self.source).finish()
    }
}
