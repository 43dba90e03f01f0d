//! Signals: what a machine may await, and how a received one becomes its type.

use crate::model::{Invalid, Json};

/// A message in an instance's inbox.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a signal",
    label = "not a signal type",
    note = "derive it: `#[derive(Signal, Serialize, Deserialize)]`",
    note = "a set of signals is awaited alone: `await(Set)`"
)]
pub trait Signal: Awaitable {
    /// Stored name.
    const NAME: &'static str;

    /// The payload: a JSON object.
    ///
    /// # Errors
    /// What cannot be stored.
    fn payload(&self) -> Result<Json, Invalid>;
}

/// A reusable set of signals, awaited alone: `await(Event)`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a set of signals",
    label = "not a set of signals",
    note = "derive it on an enum of signals: `#[derive(Signals)]`"
)]
pub trait Signals: Awaitable {}

/// What `await(..)` takes: a [`Signal`], or a set of them ([`Signals`]).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a signal",
    label = "not a signal type",
    note = "derive it: `#[derive(Signal, Serialize, Deserialize)]`, or `#[derive(Signals)]` on an enum of signals"
)]
pub trait Awaitable: Sized + Send + Sync + 'static {
    /// Stored names, aliases included.
    const NAMES: &'static [&'static str];

    /// Reads a received signal; `None` when the name is none of these.
    fn receive(name: &str, payload: &Json) -> Option<Result<Self, Invalid>>;
}

/// A signal is in the awaited `X`: it is `X`, or `X` is a set that has it.
#[diagnostic::on_unimplemented(message = "`{Self}` is not in `{X}`", label = "not awaited here")]
pub trait MemberOf<X> {}

/// [`MemberOf`], where this awaited `X` is the one to send by: a signal that is awaited alone and in a set is sent
/// by the set.
pub trait MemberIf<X, const HERE: bool> {}
impl<X, G: MemberOf<X>> MemberIf<X, true> for G {}

/// The machine awaits signal `G`: what sending one asks for. `SLOT` is found by the compiler.
///
/// ```
/// # use gen_durable_runtime::machine::{Awaits, Machine, Signal};
/// fn send<M, G, SLOT>(_to: &M, _signal: G) where M: Machine + Awaits<G, SLOT>, G: Signal {}
/// ```
#[diagnostic::on_unimplemented(
    message = "machine `{Self}` never awaits signal `{G}`",
    label = "no step of `{Self}` has `await({G})`",
    note = "the signal would sit in the inbox unread"
)]
pub trait Awaits<G, SLOT> {}

/// Names one awaited signal or set of a machine, so that each has an impl of [`Awaits`] of its own.
#[derive(Debug, Clone, Copy)]
pub enum SlotNumber<const N: usize> {}

/// No signal at all.
#[derive(Debug, Clone, Copy)]
pub enum NoSlot {}

/// The wait ended without its signals.
///
/// It is no `Error`: `?` cannot swallow it, so a handler must say what happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedOut;

/// What had come when a wait for several signals timed out.
///
/// It is no `Error`: `?` cannot swallow it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Partial<T> {
    /// What has come.
    pub received: T,
}

impl<T> Partial<T> {
    /// For unit tests and generated code.
    pub fn new(received: T) -> Self {
        Self { received }
    }
}
