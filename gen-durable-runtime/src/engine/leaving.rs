//! Instances that leave their step from outside: cancelled, expired, or by a signal.

use std::panic::AssertUnwindSafe;

use super::{catalog::Served, failing::settle, shared::Shared};
use crate::{
    machine::{
        StepError,
        registry::{Caught, Exit, Stored},
    },
    model::{
        Claim, Failure, Transition,
        plan::{self, Rules},
    },
};

impl Shared {
    /// What a claimed instance becomes before anything of it runs, when it is to leave its step: a cancel goes before
    /// the deadline, and that before a signal.
    pub(super) async fn leaving(&self, served: &Served, claim: &Claim, rules: Rules) -> Option<Transition> {
        if claim.cancelled {
            return Some(self.cancelled(served, claim, rules).await);
        }
        let expired = || claim.expired.then(|| exit(served, claim, Exit::Deadline)).flatten();
        let signalled = || {
            let signal = claim.exit.as_ref()?;
            Some((exit(served, claim, Exit::Signal(&signal.name, &signal.payload))?, Some(signal.id)))
        };
        let (made, signal) = expired().map(|made| (made, None)).or_else(signalled)?;
        let rest = served.info.step(&claim.step).and_then(|s| s.join.as_ref()).is_some_and(|join| join.cancel_rest);
        if rest {
            self.cancel_children(claim.id, Some(claim.transitions)).await;
        }
        Some(left(served, claim, made, signal, rules))
    }
}

/// An exit that cannot be made, or stored, fails the step for good; neither its signal nor the deadline is
/// met again by what catches that.
fn left(served: &Served, claim: &Claim, made: Caught, signal: Option<i64>, rules: Rules) -> Transition {
    let made = made.and_then(|(entry, carry)| Ok(plan::left(claim, entry, carry, signal, rules)?));
    made.unwrap_or_else(|error| {
        let word = if signal.is_some() { "on(..)" } else { "on_deadline" };
        let error = format!("its {word} failed: {error}");
        let failure = Failure { permanent: true, error, ..StepError::new("").into_failure() };
        let mut transition = settle(served, served.info.step(&claim.step), claim, &failure, rules);
        if !transition.ends() {
            transition.consumed.extend(signal);
            transition.expires = signal.is_none();
        }
        transition
    })
}

/// What an exit makes of a row; `None` where it has none. A panic of a conversion is contained like any other.
pub(super) fn exit(served: &Served, claim: &Claim, exit: Exit<'_>) -> Option<Caught> {
    let stored = Stored { step: claim.step.clone(), state: claim.state.clone(), carry: claim.carry.clone() };
    let exit = AssertUnwindSafe(|| (served.registration.exit)(stored, exit));
    std::panic::catch_unwind(exit).unwrap_or_else(|panic| Some(Err(StepError::new(Failure::panicked(&*panic).error))))
}
