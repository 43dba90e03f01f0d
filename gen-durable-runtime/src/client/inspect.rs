//! Reading what stands.

use super::Client;
use crate::{
    Error,
    machine::Machine,
    model::{InstanceId, Invalid, Json, Snapshot, Target},
    store::Filter,
};

impl Client {
    /// An instance as its enum: its step, with its data. Rows of a version that `M` takes over are converted.
    ///
    /// # Errors
    /// `is_not_found`; when it is of another machine or its data does not decode; or the store's.
    pub async fn get<M: Machine>(&self, id: InstanceId) -> Result<M, Error> {
        self.read(&Target::Id(id)).await
    }

    /// An instance as it stands.
    ///
    /// # Errors
    /// `is_not_found`; a key that no instance can have; or the store's.
    pub async fn show(&self, target: &Target) -> Result<Snapshot, Error> {
        target.check()?;
        self.0.store.show(target).await?.ok_or_else(|| Error::not_found(named(target)))
    }

    /// A page of instances, newest first; see [`Filter::before`] for the next one.
    ///
    /// # Errors
    /// The store's.
    pub async fn list(&self, filter: Filter) -> Result<Vec<Snapshot>, Error> {
        self.0.store.list(&filter).await
    }

    pub(super) async fn read<M: Machine>(&self, target: &Target) -> Result<M, Error> {
        let snapshot = self.show(target).await?;
        is_of::<M>(&snapshot.machine)?;
        let state = Json::stored(snapshot.state.get());
        let load = M::load_version(snapshot.version, &snapshot.step, &state);
        load.map_err(|invalid: Invalid| invalid.into())
    }
}

/// Never the key: it may hold what must not be logged.
pub(super) fn named(target: &Target) -> String {
    match target {
        Target::Id(id) => format!("instance {id}"),
        Target::Key(_) => "an instance with this business key".into(),
    }
}

pub(super) fn is_of<M: Machine>(machine: &str) -> Result<(), Error> {
    let info = M::INFO;
    if machine == info.name || info.aliases.contains(&machine) {
        return Ok(());
    }
    Err(Error::wrong_machine(format!("the instance is of machine `{machine}`, not of `{}`", info.name)))
}
