//! Rows of an older version, as the running one sees them.

use std::{panic::AssertUnwindSafe, time::Duration};

use super::catalog::Served;
use crate::{
    machine::{
        MachineInfo, StepError, StepInfo,
        registry::{MachineRegistration, Stored},
    },
    model::{
        Claim, Entry, Failure, Transition, Verdict, Wake,
        plan::{self, Rules},
    },
};

/// A row that this version took over.
pub(super) struct Taken {
    /// As this version sees it.
    pub(super) claim: Claim,
    /// Its step has rules that the older one had not: it enters them first.
    pub(super) enters: Option<Transition>,
}

/// `None` when the row is of this version.
pub(super) fn take_over(served: &Served, claim: &Claim, rules: Rules) -> Result<Option<Taken>, Failure> {
    if claim.version == served.info.version {
        return Ok(None);
    }
    let converted = std::panic::catch_unwind(AssertUnwindSafe(|| convert(served.registration, claim)));
    let Some((stored, entry)) =
        converted.map_err(|panic| Failure::panicked(&*panic))?.map_err(StepError::into_failure)?
    else {
        return Ok(None);
    };
    let older = older_step(served.info, claim);
    let Stored { step, state, carry } = stored;
    let ours = Claim { version: served.info.version, step, state, carry, ..claim.clone() };
    let enters = if must_enter(served.info, older, &ours, &entry) { Some(enter(&ours, entry, rules)?) } else { None };
    Ok(Some(Taken { claim: ours, enters }))
}

fn convert(machine: &MachineRegistration, claim: &Claim) -> Result<Option<(Stored, Entry)>, StepError> {
    let stored = Stored { step: claim.step.clone(), state: claim.state.clone(), carry: claim.carry.clone() };
    let Some(stored) = (machine.upgrade)(claim.version, stored) else { return Ok(None) };
    let stored = stored?;
    let entry = (machine.enter)(stored.clone())?;
    Ok(Some((stored, entry)))
}

fn older_step(info: &'static MachineInfo, claim: &Claim) -> Option<&'static StepInfo> {
    let versions = std::iter::successors(Some(info), |info| info.upgrades);
    versions.into_iter().find(|info| info.version == claim.version)?.step(&claim.step)
}

/// Whether the step's rules ask for more than the row went through: another wait, a timer, a key, a queue.
fn must_enter(info: &MachineInfo, older: Option<&StepInfo>, claim: &Claim, entry: &Entry) -> bool {
    let key = entry.concurrency.as_ref().map(|slot| &slot.key);
    let had_timer = older.is_some_and(|s| s.awaits.is_none() && s.timeout.is_some());
    let waits = info.step(&claim.step).is_some_and(|step| !wait_is_over(step, &claim.wake));
    waits
        || key != claim.concurrency_key.as_ref()
        || (entry.timer.is_some() && !had_timer)
        || entry.queue.is_some_and(|queue| queue != claim.queue)
}

/// Whether what ended the wait of the older version's step ends the wait of this one as well.
fn wait_is_over(step: &StepInfo, wake: &Wake) -> bool {
    let Some(awaits) = &step.awaits else { return true };
    match wake {
        Wake::Ready | Wake::Unsatisfied => false,
        Wake::Signals(signals) if signals.is_empty() => step.timeout.is_some(),
        Wake::Signals(signals) => {
            signals.iter().all(|s| awaits.signals.iter().any(|names| names.contains(&s.name.as_str())))
        }
    }
}

/// The inbox stays as it is: what the older version received is there for the new wait.
fn enter(claim: &Claim, entry: Entry, rules: Rules) -> Result<Transition, Failure> {
    let verdict = Verdict::Goto { entry, delay: Duration::ZERO, carry: claim.carry.clone() };
    let transition = plan::outcome(claim, verdict, rules).map_err(|e| StepError::from(e).into_failure())?;
    Ok(Transition { consumed: vec![], ..transition })
}
