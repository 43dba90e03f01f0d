//! New instances.

use std::{collections::BTreeSet, sync::Arc};

use super::{Client, Handle, gather::Together};
use crate::{
    Error,
    machine::Startable,
    model::{StartSpec, Started},
    store::{Notifier, Pending, Store},
};

impl Client {
    /// Starts an instance. The workers are woken once it is committed.
    ///
    /// Calls of one client at the same time share statements: many tasks that start one each are nearly as fast as
    /// [`Client::start_many`].
    ///
    /// If its business key is occupied nothing is started: the handle then is the occupant's, and
    /// [`Handle::is_new`] says so.
    ///
    /// # Errors
    /// Invalid input, before any SQL; or the store's.
    pub async fn start<S: Startable>(&self, start: S) -> Result<Handle<S::Machine>, Error> {
        let spec = start.into_spec()?;
        spec.check()?;
        let started = match spec.key {
            // It may wait for whoever takes the same key.
            Some(_) => self.0.starts.call_alone(&spec).await?,
            None => self.0.starts.call(spec).await?,
        };
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
        start(&self.0.store, &self.0.notifier, specs).await
    }

    pub(super) fn wake(&self, queues: impl IntoIterator<Item = String>) {
        queues.into_iter().for_each(|queue| self.0.notifier.wake(queue));
    }
}

async fn start(store: &Arc<dyn Store>, notifier: &Notifier, specs: &[StartSpec]) -> Result<Vec<Started>, Error> {
    let started = store.start(specs).await?;
    queues(specs, &started).into_iter().for_each(|queue| notifier.wake(queue));
    Ok(started)
}

/// Single starts of many callers.
pub(super) struct Starts {
    pub(super) store: Arc<dyn Store>,
    pub(super) notifier: Notifier,
}

impl Together for Starts {
    type Item = StartSpec;
    type Answer = Started;

    const BATCH: usize = 1_000;

    fn bytes(spec: &StartSpec) -> usize {
        spec.bytes()
    }

    fn alone<'a>(&'a self, spec: &'a StartSpec) -> Pending<'a, Started> {
        Box::pin(async move {
            let started = start(&self.store, &self.notifier, std::slice::from_ref(spec)).await?;
            started.first().copied().ok_or_else(Error::stopped)
        })
    }

    fn together<'a>(&'a self, specs: &'a [StartSpec]) -> Pending<'a, Vec<Option<Started>>> {
        Box::pin(async { Ok(start(&self.store, &self.notifier, specs).await?.into_iter().map(Some).collect()) })
    }
}

/// Every start described, or the first that cannot be, with its position.
pub(super) fn specs<S: Startable>(starts: impl IntoIterator<Item = S>) -> Result<Vec<StartSpec>, Error> {
    let spec = |(at, start): (usize, S)| start.into_spec().map_err(|invalid| Error::from(invalid).at(at));
    starts.into_iter().enumerate().map(spec).collect()
}

/// The queues in which something new stands.
pub(super) fn queues(specs: &[StartSpec], started: &[Started]) -> BTreeSet<String> {
    let new = specs.iter().zip(started).filter(|(_, started)| started.is_new());
    new.map(|(spec, _)| spec.first_queue().to_owned()).collect()
}
