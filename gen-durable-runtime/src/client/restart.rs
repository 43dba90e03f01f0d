//! A new instance that goes on from a step of another one.

use super::{Client, Handle, inspect::is_of};
use crate::{
    Error,
    machine::{EnteredByGoto, Machine, MachineInfo, Step, support::no_version},
    model::{Entry, InstanceId, Json, Snapshot, StartSpec, Started, Target},
};

impl Client {
    /// Starts a new instance of the same machine at `step`: any step that a `goto` may enter, and with this data. It
    /// has the carry of the original as it stands, and the queue and priority that the original was given at its start;
    /// no parent, an empty inbox, a history and a deadline of its own. The step's rules hold as at a start there: it
    /// waits, for signals or for its time, stands in the step's queue and takes its key.
    ///
    /// The original stays as it is, whether it has ended or not, and is not stopped: cancel it, or both work. It is not
    /// asked whether this was done before: every call starts one.
    ///
    /// **The business key** goes over to the new instance if nobody has it: an original that has ended gave it up, unless
    /// its key is kept (`key(.., kept)`). So one that still lives, or keeps its key, is not forked; nor is one whose
    /// key a newer instance has. Two calls at once cannot both get it.
    ///
    /// ```ignore
    /// // The carrier lost the parcel: once more from the shipping, with what was paid.
    /// let again = client.restart_from::<Checkout>(id, Ship { order: 7, payment: 1 }).await?;
    /// ```
    ///
    /// # Errors
    /// `is_not_found`; when it is of another machine, or of a version that `M` does not take over; a carry that does not
    /// decode; `is_duplicate` when its business key is occupied; or the store's. On error nothing was started.
    pub async fn restart_from<M: Machine>(
        &self,
        id: InstanceId,
        step: impl Step<Machine = M> + EnteredByGoto,
    ) -> Result<Handle<M>, Error> {
        self.fork(&Target::Id(id), step).await
    }

    async fn fork<M: Machine>(&self, original: &Target, step: impl Step<Machine = M>) -> Result<Handle<M>, Error> {
        let original = self.show(original).await?;
        is_of::<M>(&original.machine)?;
        let mut versions = std::iter::successors(Some(M::INFO), |info| info.upgrades);
        if versions.all(|info| info.version != original.version) {
            return Err(no_version::<M>(original.version).into());
        }
        let carry = original.carry.as_ref().map(|carry| Json::stored(carry.get()));
        let carry = M::load_carry(original.version, carry.as_ref())?;
        let (entry, carry) = (step.entry(&carry)?, M::store_carry(&carry)?);
        let id = self.start_fork(&original, M::INFO, entry, carry).await?;
        Ok(Handle::started(self.clone(), Started::New(id)))
    }

    /// Starts it, at an entry that was made elsewhere.
    pub(crate) async fn start_fork(
        &self,
        original: &Snapshot,
        machine: &'static MachineInfo,
        entry: Entry,
        carry: Option<Json>,
    ) -> Result<InstanceId, Error> {
        let spec = StartSpec {
            carry,
            key: original.key.clone(),
            key_kept: original.key_kept,
            deadline: machine.deadline,
            exits: machine.exits_at(entry.step),
            defaults: (machine.queue, machine.priority),
            queue: original.home_queue.clone(),
            priority: original.home_priority,
            ..StartSpec::plain(machine.name, machine.version, entry)
        };
        match self.start_specs(&[spec]).await?.first().copied() {
            Some(Started::New(id)) => Ok(id),
            Some(Started::Duplicate(occupant)) => Err(Error::duplicate(occupant)),
            None => Err(Error::stopped()),
        }
    }
}

impl<M: Machine> Handle<M> {
    /// Starts a new instance from one of its steps: see [`Client::restart_from`]. A handle by key means who has the
    /// key now.
    ///
    /// # Errors
    /// As [`Client::restart_from`].
    pub async fn restart_from(&self, step: impl Step<Machine = M> + EnteredByGoto) -> Result<Self, Error> {
        self.client().fork(self.target(), step).await
    }
}
