//! One run of a step.

use std::sync::Arc;

use crate::{
    machine::{
        Joined, Machine, Outcome, Step, StepContext, StepError,
        joined::NoChildren,
        registry::{Ran, Run},
    },
    model::{Invalid, Json, ReceivedSignal, Wake},
};
/// A job's future, which a worker moves between threads.
pub fn sent<F: Future + Send>(future: F) -> impl Future<Output = F::Output> + Send {
    future
}

/// The carry of a run.
///
/// # Errors
/// When it does not decode.
pub fn carry<M: Machine>(run: &Run) -> Result<M::Carry, StepError> {
    M::load_carry(M::VERSION, run.carry.as_ref()).map_err(StepError::undecodable)
}

/// The step data of a run.
///
/// # Errors
/// When it does not decode.
pub fn step<S: Step>(run: &Run) -> Result<S, StepError> {
    S::decode(&run.state).map_err(StepError::undecodable)
}

/// What an outcome asks for.
///
/// # Errors
/// What cannot be stored.
pub fn ran<S: Step>(outcome: Outcome<S>, carry: &<S::Machine as Machine>::Carry) -> Result<Ran, StepError> {
    outcome.into_ran(carry)
}

/// A step that this version does not have.
pub fn no_step<M: Machine>(step: &str) -> Invalid {
    let known: Vec<&str> = M::INFO.steps.iter().map(|s| s.name).collect();
    Invalid::new("step", format!("{step:?} is none of machine {}: {}", M::NAME, known.join(", ")))
}

/// A version that this machine neither is nor takes over.
pub fn no_version<M: Machine>(version: i32) -> Invalid {
    Invalid::new("version", format!("{version} of machine {} is not known here", M::NAME))
}

type Receive<X> = fn(&str, &Json) -> Option<Result<X, Invalid>>;

fn received<X>(wake: &Wake, receive: Receive<X>) -> Result<Vec<X>, StepError> {
    let Wake::Signals(signals) = wake else { return Ok(vec![]) };
    let read = |s: &ReceivedSignal| receive(&s.name, &s.payload);
    signals.iter().filter_map(read).collect::<Result<_, _>>().map_err(StepError::undecodable)
}

/// The signal that ended a wait; `None` when it timed out.
///
/// # Errors
/// When it does not decode.
pub fn first<X>(wake: &Wake, receive: Receive<X>) -> Result<Option<X>, StepError> {
    Ok(received(wake, receive)?.into_iter().next())
}

/// All signals that have come.
///
/// # Errors
/// When one does not decode.
pub fn every<X>(wake: &Wake, receive: Receive<X>) -> Result<Vec<X>, StepError> {
    received(wake, receive)
}

/// A wait that ended without its signals, though nothing bounds it.
pub fn woken_early() -> StepError {
    StepError::new("woken without the signals it waits for")
}

/// The children of one machine.
pub fn joined<M>(context: &StepContext) -> Joined<M> {
    Joined::new(context.children().unwrap_or_else(|| Arc::new(NoChildren)))
}
