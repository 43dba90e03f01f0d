//! What a step may do, as traits that generated code implements: a missing one is the compile error.

use super::{Machine, Step};

/// The step has `To` in its `next(..)`.
#[diagnostic::on_unimplemented(
    message = "step `{Self}` has no transition to `{To}`",
    label = "not in the `next(..)` list of step `{Self}`",
    note = "declare the edge on the `{Self}` variant: `#[step(next({To}, ..))]`"
)]
pub trait Transition<To>: Step {
    #[doc(hidden)]
    fn arrive(to: To) -> Self::Machine;
}

/// The machine may end at this step.
#[diagnostic::on_unimplemented(
    message = "step `{Self}` is not declared as an end of its machine",
    label = "`done(..)` is only allowed in a step marked `#[step(done)]`",
    note = "mark the `{Self}` variant `#[step(done)]`, or move on with `goto(..)`"
)]
pub trait Ends: Step {}

/// The machine may end at this step as failed.
#[diagnostic::on_unimplemented(
    message = "step `{Self}` is not declared as a failing end of its machine",
    label = "`fail(..)` is only allowed in a step marked `#[step(fail)]`",
    note = "mark the `{Self}` variant `#[step(fail)]`, or return an error: it retries, then catches"
)]
pub trait MayFail: Step {}

/// The step is entered by `goto`: it is not a join.
#[diagnostic::on_unimplemented(
    message = "step `{Self}` waits for children, so it cannot be entered with `goto`",
    label = "use `fan_out({Self} {{ .. }}).children(..).into()`"
)]
pub trait EnteredByGoto {}

/// The step waits for nothing when it is entered.
#[diagnostic::on_unimplemented(
    message = "step `{Self}` waits by itself, so it cannot be entered with `goto_after`",
    label = "use `goto({Self} {{ .. }})`: its `await(..)`, `timeout` or `until` says how long"
)]
pub trait Unparked: EnteredByGoto {}

/// The step waits for children.
#[diagnostic::on_unimplemented(
    message = "step `{Self}` does not wait for children, so it cannot be entered with `fan_out`",
    label = "use `goto({Self} {{ .. }})`, or mark it `#[step(join(..))]`"
)]
pub trait JoinStep: Step {}

// Self is the side the caller wrote: with one impl only, rustc would otherwise infer it and say E0271.
/// The join step `J` waits for children of this machine.
#[diagnostic::on_unimplemented(
    message = "join step `{J}` does not wait for children of machine `{Self}`",
    label = "`{Self}` is not in the `join(..)` list of `{J}`",
    note = "declare it on the `{J}` variant: `#[step(join({Self}, ..))]`; or start it with `.spawn(..)`"
)]
pub trait ChildOf<J> {}

/// A join step whose annotation is wrong: what its children are is not looked at.
#[doc(hidden)]
pub trait OpenJoin {}

#[diagnostic::do_not_recommend]
impl<J: OpenJoin, M> ChildOf<J> for M {}

/// Instances of `M` may be started with this step's outcome.
#[diagnostic::on_unimplemented(
    message = "step `{Self}` does not spawn machine `{M}`",
    label = "`{M}` is not in the `spawn(..)` list of `{Self}`",
    note = "add it to the annotation of `{Self}`: `spawn({M}, ..)`"
)]
pub trait Spawns<M>: Step {}

/// An instance may begin at this step.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a start step",
    label = "only a `#[step(start)]` step can start an instance",
    note = "mark the `{Self}` variant `#[step(start)]`"
)]
pub trait StartStep: Step {
    /// The business key and whether it is kept after the end.
    #[doc(hidden)]
    fn business_key(&self, _carry: &<Self::Machine as Machine>::Carry) -> Option<(String, bool)> {
        None
    }
}
