//! A signal to whoever has a business key, or to the instance that is started with it.

use std::{future::IntoFuture, marker::PhantomData};

use super::{Client, Handle, SignalReceipt, signal, start};
use crate::{
    Error,
    machine::{Awaits, Keyed, Machine, Signal, Startable},
    model::{Invalid, SignalSpec, StartSpec, Started, Target},
    store::{Delivery, Pending},
};

/// Both halves of [`Client::signal_or_start`]. Await it, or hand it to a caller's transaction.
#[must_use = "nothing is signalled or started until this is awaited"]
pub struct SignalOrStart<M> {
    client: Client,
    both: Result<Both, Invalid>,
    _machine: PhantomData<fn() -> M>,
}

/// What is started, and what is sent to it or to the occupant of its key.
pub(super) struct Both {
    pub(super) start: StartSpec,
    pub(super) signal: SignalSpec,
}

impl Client {
    /// Sends `signal` to the live instance that has the business key of `start`; when there is none, starts it and
    /// gives it the signal. In one transaction: of concurrent calls one starts, and every signal arrives.
    ///
    /// The first step need not await the signal: it stays in the inbox until a step does.
    ///
    /// Answers with the instance ([`Handle::is_new`] says whether it was started) and the signal's receipt.
    ///
    /// ```ignore
    /// // One cart for each customer, whoever comes first.
    /// let (cart, _) = client.signal_or_start(start(Open { customer: 7 }), ItemAdded { sku: "teapot".into() }).await?;
    /// ```
    ///
    /// # Errors
    /// Before any SQL: invalid input, a start without a key. `is_no_target` when the key is kept (`key(.., kept)`) by an
    /// instance that has ended. Or the store's: then nothing was started and nothing sent.
    pub fn signal_or_start<S, G, SLOT>(&self, start: S, signal: G) -> SignalOrStart<S::Machine>
    where
        S: Startable<Machine: Keyed + Awaits<G, SLOT>>,
        G: Signal,
    {
        SignalOrStart { client: self.clone(), both: both(start, &signal), _machine: PhantomData }
    }
}

fn both(start: impl Startable, signal: &(impl Signal + Sized)) -> Result<Both, Invalid> {
    let start = start.into_spec()?;
    let Some(key) = start.key.clone() else {
        return Err(Invalid::new("key", "is missing: this start step has none, so nobody can be signalled"));
    };
    let (name, payload) = (name_of(signal).to_owned(), signal.payload()?);
    Ok(Both { start, signal: SignalSpec { target: Target::Key(key), name, payload, dedup: None } })
}

fn name_of<G: Signal>(_: &G) -> &'static str {
    G::NAME
}

impl<M: Machine> SignalOrStart<M> {
    /// Delivers once: a later signal with the same key is no signal, for the life of the instance.
    pub fn dedup(mut self, key: impl Into<String>) -> Self {
        if let Ok(both) = &mut self.both {
            both.signal.dedup = Some(key.into());
        }
        self
    }

    pub(super) fn into_checked(self) -> Result<Both, Error> {
        let both = self.both?;
        both.start.check()?;
        both.signal.check()?;
        Ok(both)
    }
}

impl<M: Machine> IntoFuture for SignalOrStart<M> {
    type Output = Result<(Handle<M>, SignalReceipt), Error>;
    type IntoFuture = Pending<'static, (Handle<M>, SignalReceipt)>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let client = self.client.clone();
            let both = self.into_checked()?;
            let (started, delivery) = client.0.store.signal_or_start(&both.start, &both.signal).await?;
            client.wake(wakes(&both, started, &delivery));
            answer(client, started, delivery)
        })
    }
}

pub(super) fn answer<M>(
    client: Client,
    started: Started,
    delivery: Delivery,
) -> Result<(Handle<M>, SignalReceipt), Error> {
    let receipt = signal::receipt(Some(delivery.delivered))?;
    Ok((Handle::started(client, started), receipt))
}

/// The queues in which something has work now.
pub(super) fn wakes(both: &Both, started: Started, delivery: &Delivery) -> std::collections::BTreeSet<String> {
    let mut queues = start::queues(std::slice::from_ref(&both.start), &[started]);
    queues.extend(signal::wakes(std::slice::from_ref(delivery)));
    queues
}

impl<M: Machine> std::fmt::Debug for SignalOrStart<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = self.both.as_ref().map_or("invalid", |both| both.signal.name.as_str());
        f.debug_struct("SignalOrStart").field("machine", &M::NAME).field("signal", &name).finish_non_exhaustive()
    }
}
