//! What an outcome means, decided once. A store only persists the [`Transition`] that comes out.

use std::time::Duration;

use super::{
    Advance, Change, Claim, ConcurrencySlot, Effects, Entry, Failure, Invalid, Json, RetryPolicy, Transition, Verdict,
};
use super::{Wake, limits};

/// What the plan needs to know of the machine that ran.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// The machine's version: what is written from now on.
    pub version: i32,
    /// The machine's queue.
    pub queue: &'static str,
    /// The machine's priority.
    pub priority: i16,
    /// Whether this worker may go on with the next step itself.
    pub may_continue: bool,
    /// The machine awaits signals: its inbox may hold some when it is done.
    pub awaits_signals: bool,
}

/// Turns what a run asked for into the change of its row, and of others beside it.
///
/// # Errors
/// What cannot be stored is an error of the step: the caller turns it into a failure.
pub fn outcome_with(claim: &Claim, verdict: Verdict, effects: Effects, rules: Rules) -> Result<Transition, Invalid> {
    effects.children.iter().chain(&effects.spawned).try_for_each(|start| start.check())?;
    effects.signals.iter().try_for_each(|signal| signal.check())?;
    effects.charges.iter().try_for_each(|charge| charge.check())?;
    let effects = (!effects.is_empty()).then(|| Box::new(effects));
    Ok(Transition { effects, ..outcome(claim, verdict, rules)? })
}

/// As [`outcome_with`], where nothing happens beside it.
///
/// # Errors
/// As [`outcome_with`].
pub fn outcome(claim: &Claim, verdict: Verdict, rules: Rules) -> Result<Transition, Invalid> {
    let change = match verdict {
        Verdict::Goto { entry, delay, carry } => advance(claim, entry, delay, carry, None, rules)?,
        Verdict::RetryIn(after) => {
            limits::delay("retry_in", after)?;
            Change::Retry { after, error: None }
        }
        Verdict::Done { result, carry } => Change::Done { result, carry },
        Verdict::Fail { reason, carry } => Change::Fail { reason: limits::error_text(&reason), carry },
    };
    Ok(leave(claim, change, rules))
}

/// Whether a failed run is tried again; `None` when the step has failed for good.
///
/// `jitter` is 0.0 to 1.0, drawn by the caller.
pub fn retry(claim: &Claim, failure: &Failure, policy: &RetryPolicy, jitter: f64) -> Option<Transition> {
    let failed = claim.errors.saturating_add(1);
    if failure.permanent || failed >= policy.attempts {
        return None;
    }
    let error = Some(limits::error_text(&failure.error));
    Some(Transition::of(claim, Change::Retry { after: policy.delay(failed, jitter), error }, vec![]))
}

/// A step that failed for good enters its `catch` step.
///
/// # Errors
/// What cannot be stored: the caller ends the instance as failed.
pub fn caught(
    claim: &Claim,
    failure: &Failure,
    entry: Entry,
    carry: Option<Json>,
    rules: Rules,
) -> Result<Transition, Invalid> {
    let error = Some(limits::error_text(&failure.error));
    Ok(leave(claim, advance(claim, entry, Duration::ZERO, carry, error, rules)?, rules))
}

/// A step that failed for good, without a `catch`.
pub fn failed(claim: &Claim, failure: &Failure) -> Transition {
    // The inbox stays until retention, so that a later retry has its inputs.
    Transition::of(claim, Change::Fail { reason: limits::error_text(&failure.error), carry: None }, vec![])
}

/// A cancelled instance goes to its `on_cancel`.
///
/// What the visit received stays in the inbox: nobody has seen it.
///
/// # Errors
/// What cannot be stored: the caller ends the instance.
pub fn exited(claim: &Claim, entry: Entry, carry: Option<Json>, rules: Rules) -> Result<Transition, Invalid> {
    let change = advance(claim, entry, Duration::ZERO, carry, Some("cancelled".into()), rules)?;
    Ok(Transition { cancels: true, may_have_signals: rules.awaits_signals, ..Transition::of(claim, change, vec![]) })
}

/// An instance leaves its step for `on_deadline` or `on(Signal, ..)`, which consumes that signal.
///
/// What the visit received stays in the inbox: nobody has seen it.
///
/// # Errors
/// What cannot be stored: the caller fails the step for good.
pub fn left(
    claim: &Claim,
    entry: Entry,
    carry: Option<Json>,
    signal: Option<i64>,
    rules: Rules,
) -> Result<Transition, Invalid> {
    let error = signal.is_none().then(|| "its deadline passed".into());
    let change = advance(claim, entry, Duration::ZERO, carry, error, rules)?;
    let (expires, consumed) = (signal.is_none(), signal.into_iter().collect());
    Ok(Transition { expires, may_have_signals: rules.awaits_signals, ..Transition::of(claim, change, consumed) })
}

/// A cancelled instance ends; the store adds the reason that was given.
pub fn cancelled(claim: &Claim, also: Option<&str>) -> Transition {
    let reason = limits::error_text(&format!("cancelled{}", also.map_or(String::new(), |also| format!("; {also}"))));
    Transition { cancels: true, ..Transition::of(claim, Change::Fail { reason, carry: None }, vec![]) }
}

/// A wait that is not over.
pub fn repark(claim: &Claim) -> Transition {
    Transition::of(claim, Change::Repark, vec![])
}

/// Gives the claim back; the run does not count.
pub fn release(claim: &Claim) -> Transition {
    Transition::of(claim, Change::Release, vec![])
}

/// A change that ends the visit consumes what the visit received.
fn leave(claim: &Claim, change: Change, rules: Rules) -> Transition {
    let consumed = match (&change, &claim.wake) {
        (Change::Advance(_) | Change::Done { .. }, Wake::Signals(signals)) => signals.iter().map(|s| s.id).collect(),
        (Change::Advance(_) | Change::Done { .. }, Wake::Ready | Wake::Unsatisfied) => vec![],
        (Change::Retry { .. } | Change::Fail { .. } | Change::Repark | Change::Release, _) => vec![],
    };
    Transition { may_have_signals: rules.awaits_signals, ..Transition::of(claim, change, consumed) }
}

fn advance(
    claim: &Claim,
    entry: Entry,
    delay: Duration,
    carry: Option<Json>,
    error: Option<String>,
    rules: Rules,
) -> Result<Change, Invalid> {
    entry.check()?;
    limits::delay("goto_after", delay)?;
    let queue = entry.queue.or(claim.home_queue.as_deref()).unwrap_or(rules.queue).to_owned();
    let priority = entry.priority.or(claim.home_priority).unwrap_or(rules.priority);
    let stays = queue == claim.queue && priority == claim.priority && delay.is_zero();
    let in_place = rules.may_continue && stays && may_enter_in_place(claim, &entry);
    let version = rules.version;
    Ok(Change::Advance(Box::new(Advance { version, entry, delay, carry, queue, priority, error, in_place })))
}

/// Nothing forbids going on: it waits for nothing, asks no limit, and takes no key that this claim does not hold.
fn may_enter_in_place(claim: &Claim, entry: &Entry) -> bool {
    let key_is_held = match &entry.concurrency {
        None => true,
        // The slot goes along.
        Some(ConcurrencySlot { key, limit }) => {
            claim.concurrency_key.as_deref() == Some(key) && limit.is_some() == claim.slot.is_some()
        }
    };
    !entry.waits() && entry.rate.is_none() && key_is_held
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ClaimToken, Deadline, FailureKind, InstanceId, Join, ReceivedSignal, Wait};

    const RULES: Rules = Rules { version: 2, queue: "default", priority: 0, may_continue: true, awaits_signals: false };

    fn claim() -> Claim {
        Claim {
            id: InstanceId::new(1),
            token: ClaimToken::new("w#1"),
            machine: "m".into(),
            version: 1,
            step: "a".into(),
            state: Json::object(),
            carry: None,
            attempt: 0,
            errors: 0,
            crashes: 0,
            transitions: 4,
            queue: "default".into(),
            priority: 0,
            home_queue: None,
            home_priority: None,
            concurrency_key: None,
            slot: None,
            holds: false,
            parent: None,
            cancelled: false,
            expired: false,
            exit: None,
            has_children: false,
            wake: Wake::Ready,
        }
    }

    fn goto(entry: Entry) -> Verdict {
        Verdict::Goto { entry, delay: Duration::ZERO, carry: None }
    }

    fn advanced(t: Transition) -> Advance {
        match t.change {
            Change::Advance(a) => *a,
            other => panic!("not an advance: {other:?}"),
        }
    }

    fn entry() -> Entry {
        Entry::plain("b", Json::object())
    }

    fn failure(permanent: bool) -> Failure {
        Failure { kind: FailureKind::Error, error: "x".into(), permanent }
    }

    #[test]
    fn a_plain_goto_goes_on_in_place_and_writes_the_running_version() {
        let a = advanced(outcome(&claim(), goto(entry()), RULES).unwrap());
        assert!(a.in_place);
        assert_eq!((a.version, a.queue.as_str()), (2, "default"));
    }

    #[test]
    fn what_waits_or_takes_a_new_key_is_requeued() {
        let wait = Wait::any(&["s"][..], None);
        let slot = ConcurrencySlot { key: "k:1".into(), limit: None };
        let forbidden = [
            Entry { wait: Some(wait), ..entry() },
            Entry { timer: Some(Deadline::After(Duration::from_secs(1))), ..entry() },
            Entry { concurrency: Some(slot.clone()), ..entry() },
            Entry { join: Some(Join::default()), ..entry() },
            Entry { queue: Some("other"), ..entry() },
            Entry { priority: Some(3), ..entry() },
        ];
        for e in forbidden {
            assert!(!advanced(outcome(&claim(), goto(e.clone()), RULES).unwrap()).in_place, "{e:?}");
        }
        let held = Claim { concurrency_key: Some("k:1".into()), ..claim() };
        let e = Entry { concurrency: Some(slot), ..entry() };
        assert!(advanced(outcome(&held, goto(e), RULES).unwrap()).in_place);
    }

    #[test]
    fn a_queue_given_at_start_stays_until_a_step_has_its_own() {
        let at_home = Claim { home_queue: Some("mine".into()), ..claim() };
        assert_eq!(advanced(outcome(&at_home, goto(entry()), RULES).unwrap()).queue, "mine");
        let own = Entry { queue: Some("own"), ..entry() };
        assert_eq!(advanced(outcome(&at_home, goto(own), RULES).unwrap()).queue, "own");
    }

    #[test]
    fn attempts_bound_errors_and_permanent_skips_them() {
        let policy = RetryPolicy { attempts: 2, ..RetryPolicy::DEFAULT };
        assert!(retry(&claim(), &failure(false), &policy, 0.5).is_some());
        assert!(retry(&claim(), &failure(true), &policy, 0.5).is_none());
        assert!(retry(&Claim { errors: 1, ..claim() }, &failure(false), &policy, 0.5).is_none());
        assert!(retry(&Claim { errors: u32::MAX, ..claim() }, &failure(false), &policy, 0.5).is_none());
    }

    #[test]
    fn a_step_that_polls_by_retry_in_keeps_its_attempts_for_errors() {
        let policy = RetryPolicy { attempts: 2, ..RetryPolicy::DEFAULT };
        let polled = Claim { attempt: 100, ..claim() };
        let retried = retry(&polled, &failure(false), &policy, 0.0).expect("one error is allowed");
        assert!(matches!(retried.change, Change::Retry { after, .. } if after == policy.backoff));
    }

    #[test]
    fn only_leaving_a_visit_consumes_its_signals() {
        let signal = ReceivedSignal { id: 9, name: "s".into(), payload: Json::object() };
        let woken = Claim { wake: Wake::Signals(vec![signal]), ..claim() };
        assert_eq!(outcome(&woken, goto(entry()), RULES).unwrap().consumed, [9]);
        assert_eq!(outcome(&woken, Verdict::RetryIn(Duration::ZERO), RULES).unwrap().consumed, [0i64; 0]);
        let fail = Verdict::Fail { reason: "no".into(), carry: None };
        assert_eq!(outcome(&woken, fail, RULES).unwrap().consumed, [0i64; 0]);
    }

    #[test]
    fn absurd_delays_are_errors_of_the_step() {
        assert!(outcome(&claim(), Verdict::RetryIn(Duration::MAX), RULES).is_err());
        let late = Verdict::Goto { entry: entry(), delay: Duration::MAX, carry: None };
        assert!(outcome(&claim(), late, RULES).is_err());
    }
}
