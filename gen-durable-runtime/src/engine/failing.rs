//! What a run that came to no outcome means: again later, its `catch`, or the end.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    panic::AssertUnwindSafe,
};

use super::catalog::Served;
use crate::{
    machine::{StepError, StepInfo, registry::Stored},
    model::{
        Claim, Entry, Failure, FailureKind, Json, Transition, limits,
        plan::{self, Rules},
    },
};

/// A failed run: again later, or to its `catch`, or the end.
pub(super) fn settle(
    served: &Served,
    step: Option<&StepInfo>,
    claim: &Claim,
    failure: &Failure,
    rules: Rules,
) -> Transition {
    let policy = step.map_or_else(Default::default, |s| s.retry);
    // What a `catch` keeps of the text must be storable, or it could not run.
    let failure = &Failure { error: limits::error_text(&failure.error), ..failure.clone() };
    if let Some(retry) = plan::retry(claim, failure, &policy, jitter(claim)) {
        return retry;
    }
    match caught(served, claim, failure) {
        None => plan::failed(claim, failure),
        Some(Ok((entry, carry))) => plan::caught(claim, failure, entry, carry, rules).unwrap_or_else(|invalid| {
            plan::failed(claim, &because(failure, &format!("its catch cannot be stored: {invalid}")))
        }),
        Some(Err(error)) => plan::failed(claim, &because(failure, &format!("its catch failed: {error}"))),
    }
}

/// From 0.0 to 1.0, another one for each instance and each error, and the same wherever and whenever it is asked for.
fn jitter(claim: &Claim) -> f64 {
    let mut hasher = DefaultHasher::new();
    (claim.id, claim.transitions, claim.errors).hash(&mut hasher);
    (hasher.finish() >> 32) as f64 / f64::from(u32::MAX)
}

/// What `catch` makes of the failed step. A panic in there is contained like any other.
fn caught(served: &Served, claim: &Claim, failure: &Failure) -> Option<Result<(Entry, Option<Json>), StepError>> {
    let stored = Stored { step: claim.step.clone(), state: claim.state.clone(), carry: claim.carry.clone() };
    let attempts = claim.attempt.saturating_add(1);
    let catch = AssertUnwindSafe(|| (served.registration.catch)(stored, failure, attempts));
    std::panic::catch_unwind(catch).unwrap_or_else(|panic| Some(Err(StepError::new(Failure::panicked(&*panic).error))))
}

fn because(failure: &Failure, also: &str) -> Failure {
    Failure { error: format!("{}; {also}", failure.error), ..failure.clone() }
}

pub(super) fn crashed(times: u32) -> Failure {
    Failure { kind: FailureKind::Crashed, error: format!("crashed {times} times"), permanent: true }
}

pub(super) fn undecodable(error: String) -> Failure {
    Failure { kind: FailureKind::Undecodable, error, permanent: false }
}
