//! What a join step sees of its children.

use std::{collections::HashMap, sync::Arc};

use super::{backoff::Backoff, boot::names};
use crate::{
    Error,
    machine::{ChildCounts, ChildSource, MachineInfo, PageFuture, StepError},
    model::{Claim, InstanceId},
    store::{ChildPage, Store},
};

/// Children read at once.
const PAGE: u32 = 1_000;

/// The children of one round. Their counts are known; the rest is read when asked for.
pub(super) struct Round {
    store: Arc<dyn Store>,
    parent: InstanceId,
    round: i64,
    counts: HashMap<String, ChildCounts>,
}

impl Round {
    /// The round that this claim's wait was for; waits while the database does not answer.
    pub(super) async fn of(store: &Arc<dyn Store>, claim: &Claim) -> Result<Self, Error> {
        let mut backoff = Backoff::default();
        loop {
            match store.child_counts(claim.id, claim.transitions).await {
                Err(error) if error.is_transient() => backoff.wait().await,
                counts => {
                    let (store, counts) = (Arc::clone(store), counts?.into_iter().collect());
                    return Ok(Self { store, parent: claim.id, round: claim.transitions, counts });
                }
            }
        }
    }
}

impl ChildSource for Round {
    fn counts(&self, machine: &'static MachineInfo) -> ChildCounts {
        let of = |name: &str| self.counts.get(name).copied().unwrap_or_default();
        names(machine).map(of).fold(ChildCounts::default(), |a, b| {
            ChildCounts::new(a.started + b.started, a.done + b.done, a.failed + b.failed)
        })
    }

    fn page(&self, machine: &'static MachineInfo, after: i64) -> PageFuture {
        let (store, parent, round) = (Arc::clone(&self.store), self.parent, self.round);
        Box::pin(async move {
            let machines: Vec<&'static str> = names(machine).collect();
            let page = ChildPage { parent, round, machines: &machines, after, limit: PAGE };
            store.children(&page).await.map_err(StepError::from)
        })
    }
}

impl std::fmt::Debug for Round {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Round").field("parent", &self.parent).field("round", &self.round).finish_non_exhaustive()
    }
}
