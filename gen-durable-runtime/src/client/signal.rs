//! Signals on their way to an inbox.

use std::{collections::BTreeSet, future::IntoFuture, sync::Arc};

use super::{Client, gather::Together};
use crate::{
    Error,
    model::{InstanceId, Invalid, SignalSpec},
    store::{Delivered, Delivery, Notifier, Pending, Store},
};

/// A signal and whom it is for. Await it to deliver it, or hand several to [`Client::signal_many`].
#[must_use = "a signal is delivered when this is awaited"]
pub struct Signalling {
    client: Client,
    spec: Result<SignalSpec, Invalid>,
}

/// A signal that stands in an inbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SignalReceipt {
    /// Whose inbox.
    pub id: InstanceId,
    /// That instance had a signal with this dedup key before: it was not delivered again.
    pub duplicate: bool,
}

impl Signalling {
    pub(super) fn new(client: Client, spec: Result<SignalSpec, Invalid>) -> Self {
        Self { client, spec }
    }

    /// Delivers once: a later signal with the same key is no signal, for the life of the instance.
    pub fn dedup(mut self, key: impl Into<String>) -> Self {
        if let Ok(spec) = &mut self.spec {
            spec.dedup = Some(key.into());
        }
        self
    }

    pub(super) fn into_spec(self) -> Result<SignalSpec, Error> {
        let spec = self.spec?;
        spec.check()?;
        Ok(spec)
    }
}

impl IntoFuture for Signalling {
    type Output = Result<SignalReceipt, Error>;
    type IntoFuture = Pending<'static, SignalReceipt>;

    /// # Errors
    /// `is_no_target` when the instance has ended or never was; invalid input before any SQL; or the store's.
    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let client = self.client.clone();
            receipt(Some(client.0.signals.call(self.into_spec()?).await?))
        })
    }
}

pub(super) fn receipt(delivered: Option<Delivered>) -> Result<SignalReceipt, Error> {
    match delivered.unwrap_or(Delivered::NoTarget) {
        Delivered::New(id) => Ok(SignalReceipt { id, duplicate: false }),
        Delivered::Duplicate(id) => Ok(SignalReceipt { id, duplicate: true }),
        Delivered::NoTarget => Err(Error::no_target()),
    }
}

impl Client {
    /// Delivers many signals: one answer each, in order. Delivered in pieces, each of which holds as a whole.
    ///
    /// # Errors
    /// Invalid input, with its position, before any SQL; or the store's.
    pub async fn signal_many(&self, signals: impl IntoIterator<Item = Signalling>) -> Result<Vec<Delivered>, Error> {
        self.signal_specs(&specs(signals)?).await
    }

    /// Delivers what is described without its type: for tools.
    ///
    /// # Errors
    /// As [`Client::signal_many`].
    pub async fn signal_specs(&self, specs: &[SignalSpec]) -> Result<Vec<Delivered>, Error> {
        for spec in specs {
            spec.check()?;
        }
        deliver(&self.0.store, &self.0.notifier, specs).await
    }
}

async fn deliver(store: &Arc<dyn Store>, notifier: &Notifier, specs: &[SignalSpec]) -> Result<Vec<Delivered>, Error> {
    let deliveries = store.signal(specs).await?;
    wakes(&deliveries).into_iter().for_each(|queue| notifier.wake(queue));
    Ok(deliveries.into_iter().map(|d| d.delivered).collect())
}

/// Single signals of many callers.
pub(super) struct Signals {
    pub(super) store: Arc<dyn Store>,
    pub(super) notifier: Notifier,
}

impl Together for Signals {
    type Item = SignalSpec;
    type Answer = Delivered;

    /// Of one statement: its joins cost the square of the batch.
    const BATCH: usize = 200;

    fn bytes(spec: &SignalSpec) -> usize {
        spec.bytes()
    }

    fn alone<'a>(&'a self, spec: &'a SignalSpec) -> Pending<'a, Delivered> {
        Box::pin(async move {
            let delivered = deliver(&self.store, &self.notifier, std::slice::from_ref(spec)).await?;
            Ok(delivered.first().copied().unwrap_or(Delivered::NoTarget))
        })
    }

    fn together<'a>(&'a self, specs: &'a [SignalSpec]) -> Pending<'a, Vec<Option<Delivered>>> {
        Box::pin(async {
            let deliveries = self.store.signal_free(specs).await?;
            wakes(deliveries.iter().flatten()).into_iter().for_each(|queue| self.notifier.wake(queue));
            Ok(deliveries.into_iter().map(|delivery| delivery.map(|d| d.delivered)).collect())
        })
    }
}

pub(super) fn specs(signals: impl IntoIterator<Item = Signalling>) -> Result<Vec<SignalSpec>, Error> {
    let spec = |(at, signal): (usize, Signalling)| signal.into_spec().map_err(|error| error.at(at));
    signals.into_iter().enumerate().map(spec).collect()
}

pub(super) fn wakes<'d>(deliveries: impl IntoIterator<Item = &'d Delivery>) -> BTreeSet<String> {
    deliveries.into_iter().filter_map(|d| d.wake.clone()).collect()
}

impl std::fmt::Debug for Signalling {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = self.spec.as_ref().map_or("invalid", |s| s.name.as_str());
        f.debug_struct("Signalling").field("name", &name).finish_non_exhaustive()
    }
}
