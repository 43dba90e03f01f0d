//! The children of an instance, as they stand.

use std::collections::VecDeque;

use super::{Client, Handle};
use crate::{
    Error,
    machine::ChildCounts,
    model::{Child, InstanceId, Target},
    store::KinPage,
};

/// Children read at once.
const PAGE: u32 = 1_000;

/// The children of one instance: their counts, and each of them one after the other. Nothing is read before it is asked
/// for, and what is read is as it stands then.
///
/// They are those of the last fan-out, which the instance waits for, or waited for last; [`ChildList::all_rounds`] adds
/// those of the ones before. Spawned instances are nobody's children, and grandchildren those of their own parent. A join
/// step sees what was counted when its wait ended ([`Joined`](crate::machine::Joined)); here a late child has ended too.
///
/// ```no_run
/// # use gen_durable_runtime::{client::Client, model::InstanceId};
/// # async fn run(client: Client, id: InstanceId) -> Result<(), gen_durable_runtime::Error> {
/// let mut children = client.children(id);
/// let counts = children.counts().await?;
/// println!("{} of {} to go, {} failed", counts.pending(), counts.started, counts.failed);
/// while let Some(child) = children.next().await? {
///     println!("{} {} {}", child.id, child.machine, child.status);
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing is read before it is asked for"]
pub struct ChildList {
    client: Client,
    parent: Target,
    all_rounds: bool,
    after: Option<Child>,
    page: VecDeque<Child>,
    is_last: bool,
}

impl Client {
    /// The children of an instance. One that does not exist has none.
    pub fn children(&self, parent: InstanceId) -> ChildList {
        ChildList::of(self.clone(), Target::Id(parent))
    }
}

impl<M> Handle<M> {
    /// Its children: see [`Client::children`]. A handle by key means who has the key when they are read.
    pub fn children(&self) -> ChildList {
        ChildList::of(self.client().clone(), self.target().clone())
    }
}

impl ChildList {
    fn of(client: Client, parent: Target) -> Self {
        Self { client, parent, all_rounds: false, after: None, page: VecDeque::new(), is_last: false }
    }

    /// Of every fan-out, not only of the last one.
    pub fn all_rounds(mut self) -> Self {
        self.all_rounds = true;
        self
    }

    /// How many there are, and how many of them have ended by now. Costs a look at each.
    ///
    /// # Errors
    /// By a key that nobody has: `is_not_found`. Or the store's.
    pub async fn counts(&self) -> Result<ChildCounts, Error> {
        let parent = self.parent().await?;
        self.client.0.store.kin_counts(parent, self.all_rounds).await
    }

    /// The next one, in the order of the fan-outs and of the places in them; `None` after the last. They are read in
    /// pages.
    ///
    /// # Errors
    /// As [`ChildList::counts`].
    pub async fn next(&mut self) -> Result<Option<Child>, Error> {
        if self.page.is_empty() && !self.is_last {
            let parent = self.parent().await?;
            // The key may change hands between two pages.
            self.parent = Target::Id(parent);
            let page = KinPage { parent, all_rounds: self.all_rounds, after: self.after.as_ref(), limit: PAGE };
            self.page = self.client.0.store.kin(&page).await?.into();
            self.is_last = self.page.len() < PAGE as usize;
            self.after = self.page.back().cloned().or(self.after.take());
        }
        Ok(self.page.pop_front())
    }

    async fn parent(&self) -> Result<InstanceId, Error> {
        match &self.parent {
            Target::Id(id) => Ok(*id),
            Target::Key(_) => Ok(self.client.show(&self.parent).await?.id),
        }
    }
}

impl std::fmt::Debug for ChildList {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChildList").field("all_rounds", &self.all_rounds).finish_non_exhaustive()
    }
}
