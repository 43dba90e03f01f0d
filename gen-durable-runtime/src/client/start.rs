//! New instances.

use super::{Client, Handle};
use crate::{
    Error,
    machine::Startable,
    model::{StartSpec, Started},
};

impl Client {
    /// Starts an instance. The workers are woken once it is committed.
    ///
    /// If its business key is occupied nothing is started: the handle then is the occupant's, and
    /// [`Handle::is_new`] says so.
    ///
    /// # Errors
    /// Invalid input, before any SQL; or the store's.
    pub async fn start<S: Startable>(&self, start: S) -> Result<Handle<S::Machine>, Error> {
        let spec = start.into_spec()?;
        let started = self.start_specs(std::slice::from_ref(&spec)).await?;
        let started = *started.first().ok_or_else(Error::stopped)?;
        Ok(Handle::started(self.clone(), started))
    }

    /// Starts many, all or none: one answer each, in order. 100,000 in one call are fine.
    ///
    /// # Errors
    /// Invalid input, with its position, before any SQL; or the store's: then none was started.
    pub async fn start_many<S: Startable>(&self, starts: impl IntoIterator<Item = S>) -> Result<Vec<Started>, Error> {
        self.start_specs(&specs(starts)?).await
    }

    /// Starts what is described without its type: for tools.
    ///
    /// # Errors
    /// As [`Client::start_many`].
    pub async fn start_specs(&self, specs: &[StartSpec]) -> Result<Vec<Started>, Error> {
        for spec in specs {
            spec.check()?;
        }
        let started = self.0.store.start(specs).await?;
        self.wake(queues(specs, &started));
        Ok(started)
    }

    pub(super) fn wake(&self, queues: impl IntoIterator<Item = String>) {
        queues.into_iter().for_each(|queue| self.0.notifier.wake(queue));
    }
}

/// Every start described, or the first that cannot be, with its position.
pub(super) fn specs<S: Startable>(starts: impl IntoIterator<Item = S>) -> Result<Vec<StartSpec>, Error> {
    let spec = |(at, start): (usize, S)| start.into_spec().map_err(|invalid| Error::from(invalid).at(at));
    starts.into_iter().enumerate().map(spec).collect()
}

/// The queues in which something new stands.
pub(super) fn queues(specs: &[StartSpec], started: &[Started]) -> std::collections::BTreeSet<String> {
    let new = specs.iter().zip(started).filter(|(_, started)| started.is_new());
    new.map(|(spec, _)| spec.first_queue().to_owned()).collect()
}
