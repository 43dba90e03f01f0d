use std::sync::Arc;

use super::{
    MachineInfo,
    registry::{Run, RunFuture},
};
use crate::model::{Entry, Invalid, Json};

/// The result type of the machine that step `S` belongs to.
pub type Output<S> = <<S as Step>::Machine as Machine>::Output;

/// A durable machine: an enum under `#[durable_fsm]`, or a `#[durable_job]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a durable machine",
    label = "expected a `#[durable_fsm]` enum or a `#[durable_job]`",
    note = "only machines can be started, spawned, or named in `join(..)`, `spawn(..)` and `from(..)`"
)]
pub trait Machine: Sized + Send + 'static {
    /// Stored name.
    const NAME: &'static str;
    /// Version.
    const VERSION: i32;
    /// Everything the annotation says.
    const INFO: &'static MachineInfo;
    /// What is said of a type without the handlers, with the impl to paste; the type stands between the parts.
    #[doc(hidden)]
    const STEPS_IMPL: &'static [&'static str];
    /// Whether it has a carry.
    #[doc(hidden)]
    const HAS_CARRY: bool;
    /// What an instance ends with.
    type Output: Send + 'static;
    /// Facts that all steps share; `()` without a `carry(..)`.
    type Carry: Send + Sync + 'static;

    /// Reads stored step data of this version; aliases of the step are accepted.
    ///
    /// # Errors
    /// When there is no such step, or its data does not decode.
    fn load(step: &str, state: &Json) -> Result<Self, Invalid>;

    /// Reads stored step data of this version, or of one it takes over (`from(..)`).
    ///
    /// # Errors
    /// When the version is none of these, or [`Machine::load`] fails.
    fn load_version(version: i32, step: &str, state: &Json) -> Result<Self, Invalid>;

    /// Reads the carry of this version, or of one it takes over.
    ///
    /// # Errors
    /// When it does not decode.
    fn load_carry(version: i32, carry: Option<&Json>) -> Result<Self::Carry, Invalid>;

    /// Reads the result of an ended instance.
    ///
    /// # Errors
    /// When it does not decode.
    fn load_output(result: &Json) -> Result<Self::Output, Invalid>;

    /// The step as it is entered.
    ///
    /// # Errors
    /// What cannot be stored.
    fn into_entry(self, carry: &Self::Carry) -> Result<Entry, Invalid>;

    #[doc(hidden)]
    fn store_carry(carry: &Self::Carry) -> Result<Option<Json>, Invalid>;
    #[doc(hidden)]
    fn store_output(output: &Self::Output) -> Result<Json, Invalid>;
    /// The carry of a start without one, when its type has a default.
    #[doc(hidden)]
    fn default_carry() -> Option<Self::Carry>;
}

/// The data of one step of one machine.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a step of a durable machine",
    label = "expected the data of a step",
    note = "a variant `Ship {{ .. }}` of a `#[durable_fsm]` enum has the data `struct Ship`"
)]
pub trait Step: Sized + Send + Sync + 'static {
    /// The machine it belongs to.
    type Machine: Machine;
    /// Stored name.
    const NAME: &'static str;

    /// The enum's variant of this data.
    fn into_machine(self) -> Self::Machine;

    /// As it is stored: a JSON object.
    ///
    /// # Errors
    /// What cannot be stored.
    fn encode(&self) -> Result<Json, Invalid>;

    /// Reads it back.
    ///
    /// # Errors
    /// When the text does not fit.
    fn decode(state: &Json) -> Result<Self, Invalid>;

    /// The step as it is entered, with the rules that stand on it.
    ///
    /// # Errors
    /// What cannot be stored.
    fn entry(&self, carry: &<Self::Machine as Machine>::Carry) -> Result<Entry, Invalid>;
}

/// `E` has a handler for every step of this machine.
#[diagnostic::on_unimplemented(
    message = "`{E}` does not serve the steps of machine `{Self}`",
    label = "`{E}` has no handlers for `{Self}`",
    note = "write `impl {Self}Steps for {E}`"
)]
pub trait ServedBy<E>: Machine {
    /// Runs one step on `handler`.
    #[doc(hidden)]
    fn run(handler: Arc<E>, run: Run) -> RunFuture;
}
