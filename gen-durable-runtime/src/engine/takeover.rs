//! Rows of an older version, as the running one sees them.

use std::time::Duration;

use super::{
    catalog::Served,
    failing::{panicked, settle},
};
use crate::{
    machine::{StepInfo, registry::Stored},
    model::{
        Claim, Failure, Transition, Verdict, Wake,
        plan::{self, Rules},
    },
};

/// The claim as the running version sees it; `None` when it is of that version.
pub(super) fn upgrade(served: &Served, claim: &Claim) -> Result<Option<Claim>, Failure> {
    if claim.version == served.info.version {
        return Ok(None);
    }
    let stored = Stored { step: claim.step.clone(), state: claim.state.clone(), carry: claim.carry.clone() };
    let upgraded = std::panic::catch_unwind(|| (served.registration.upgrade)(claim.version, stored));
    match upgraded.map_err(|panic| panicked(&*panic))? {
        None => Ok(None),
        Some(Err(error)) => Err(error.into_failure()),
        Some(Ok(Stored { step, state, carry })) => Ok(Some(Claim { step, state, carry, ..claim.clone() })),
    }
}

/// Whether what ended the wait of the older version's step ends the wait of this one as well.
pub(super) fn wait_is_over(step: &StepInfo, wake: &Wake) -> bool {
    let Some(awaits) = &step.awaits else { return true };
    match wake {
        Wake::Ready | Wake::Unsatisfied => false,
        Wake::Signals(signals) if signals.is_empty() => step.timeout.is_some(),
        Wake::Signals(signals) => {
            signals.iter().all(|s| awaits.signals.iter().any(|names| names.contains(&s.name.as_str())))
        }
    }
}

/// A row that an upgrade brought to a step with rules of its own enters it now; the inbox stays as it is.
pub(super) fn enter(served: &Served, step: &StepInfo, claim: &Claim, rules: Rules) -> Transition {
    let stored = Stored { step: claim.step.clone(), state: claim.state.clone(), carry: claim.carry.clone() };
    let entered = (served.registration.enter)(stored).and_then(|entry| {
        let verdict = Verdict::Goto { entry, delay: Duration::ZERO, carry: claim.carry.clone() };
        Ok(plan::outcome(claim, verdict, rules)?)
    });
    match entered {
        Ok(transition) => Transition { consumed: vec![], ..transition },
        Err(error) => settle(served, Some(step), claim, &error.into_failure(), rules),
    }
}
