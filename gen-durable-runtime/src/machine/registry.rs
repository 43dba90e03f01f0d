//! What is linked into this binary: machines, and the types that serve them.

use std::{
    any::{Any, TypeId},
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
};

use jiff::Timestamp;

use crate::{
    machine::{MachineInfo, ServedBy, StepContext, StepError},
    model::{Effects, Entry, Failure, Json, StartSpec, Verdict, Wake},
};

/// A handler type, erased.
pub type AnyHandler = Arc<dyn Any + Send + Sync>;
/// One run of a step.
pub type RunFuture = Pin<Box<dyn Future<Output = Result<Ran, StepError>> + Send>>;

/// One run's input, as it is stored.
#[derive(Debug)]
pub struct Run {
    /// Stored step name.
    pub step: &'static str,
    /// Step data.
    pub state: Json,
    /// Facts all steps share.
    pub carry: Option<Json>,
    /// What ended the wait.
    pub wake: Wake,
    /// What the handler is told.
    pub context: StepContext,
}

/// What one run came to.
#[derive(Debug)]
pub struct Ran {
    /// What the outcome asks for.
    pub verdict: Verdict,
    /// What happens beside it.
    pub effects: Effects,
}

/// A stored row's machine data: what an upgrade converts and a `catch` starts from.
#[derive(Debug, Clone)]
pub struct Stored {
    /// Stored step name.
    pub step: String,
    /// Step data.
    pub state: Json,
    /// Facts all steps share.
    pub carry: Option<Json>,
}

/// The step that a `catch` enters, and the carry as it is kept.
pub type Caught = Result<(Entry, Option<Json>), StepError>;
/// Builds a start from raw JSON: the step, its data, the carry.
pub type RawStart = fn(Option<&str>, &str, Option<&str>) -> Result<StartSpec, StepError>;

/// What takes an exit.
#[derive(Debug, Clone, Copy)]
pub enum Exit<'a> {
    /// The instance was cancelled.
    Cancel,
    /// The machine's deadline passed.
    Deadline,
    /// This signal came: stored name and payload.
    Signal(&'a str, &'a Json),
}

/// A machine linked into this binary.
pub struct MachineRegistration {
    /// Its annotation.
    pub info: fn() -> &'static MachineInfo,
    /// Identity of the enum.
    pub type_id: fn() -> TypeId,
    /// What `catch` makes of a failed step, the attempts it had included; `None` without a `catch`.
    pub catch: fn(Stored, &Failure, u32) -> Option<Caught>,
    /// What an exit makes of a waiting or runnable row; `None` when the machine has no such exit, or the step is
    /// shielded or was reached by that exit.
    pub exit: fn(Stored, Exit<'_>) -> Option<Caught>,
    /// Takes a row of the older version (or of one still older) over; `None` when it is not one of those.
    pub upgrade: fn(version: i32, Stored) -> Option<Result<Stored, StepError>>,
    /// The entry rules of a step of this version, for a row that an upgrade brought there.
    pub enter: fn(Stored) -> Result<Entry, StepError>,
    /// Builds a start from raw JSON for the command line: step data, carry; `step` defaults to the only start.
    pub start: RawStart,
    /// Builds the start of a schedule's slot at the step with this stored name; `None` without a schedule there.
    pub slot: fn(&str, Timestamp) -> Option<Result<StartSpec, StepError>>,
}

/// A type that serves a machine.
pub struct HandlerRegistration {
    /// The machine.
    pub machine: fn() -> TypeId,
    /// The handler type and its path.
    pub handler: fn() -> (TypeId, &'static str),
    /// Runs a step on a handler of that type.
    pub run: fn(AnyHandler, Run) -> RunFuture,
}

impl HandlerRegistration {
    /// `E` serves `M`.
    pub const fn of<M: ServedBy<E>, E: Any + Send + Sync>() -> Self {
        Self { machine: TypeId::of::<M>, handler: handler_of::<E>, run: run_on::<M, E> }
    }
}

fn handler_of<E: Any>() -> (TypeId, &'static str) {
    (TypeId::of::<E>(), std::any::type_name::<E>())
}

fn run_on<M: ServedBy<E>, E: Any + Send + Sync>(handler: AnyHandler, run: Run) -> RunFuture {
    match handler.downcast::<E>() {
        Ok(handler) => M::run(handler, run),
        Err(_) => {
            let text = format!("the handler of machine {} is not a {}", M::NAME, std::any::type_name::<E>());
            Box::pin(std::future::ready(Err(text.into())))
        }
    }
}

inventory::collect!(MachineRegistration);
inventory::collect!(HandlerRegistration);

/// Every machine linked into this binary.
pub fn machines() -> impl Iterator<Item = &'static MachineRegistration> {
    inventory::iter::<MachineRegistration>.into_iter()
}

/// The newest version of the machine with this stored name or alias, of those linked into this binary.
pub fn newest(machine: &str) -> Option<&'static MachineRegistration> {
    machines().filter(|m| (m.info)().is_named(machine)).max_by_key(|m| (m.info)().version)
}

/// Every handler type linked into this binary.
pub fn handlers() -> impl Iterator<Item = &'static HandlerRegistration> {
    inventory::iter::<HandlerRegistration>.into_iter()
}

impl fmt::Debug for MachineRegistration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MachineRegistration").field((self.info)()).finish()
    }
}

impl fmt::Debug for HandlerRegistration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HandlerRegistration").field(&(self.handler)().1).finish()
    }
}
