//! What one transition writes on its row, in no dialect.

use std::time::Duration;

use jiff::Timestamp;

use crate::model::{Advance, AwaitMode, Change, Deadline, Exits, RateTake, Transition, Wait};

/// The columns of one row of a commit. `kind`: 0 on in place (touches no indexed column), 1 on and requeued, 2 on and
/// parked, 3 retry, 4 done, 5 fail, 6 parked again, 7 claim given back, 8 on and waiting for its children.
#[derive(Debug, Default)]
pub(super) struct Written<'a> {
    pub(super) kind: i16,
    pub(super) step: Option<&'a str>,
    pub(super) state: Option<&'a str>,
    pub(super) carry: Option<&'a str>,
    pub(super) result: Option<&'a str>,
    pub(super) error: Option<&'a str>,
    pub(super) after_us: Option<i64>,
    pub(super) at_us: Option<i64>,
    pub(super) version: Option<i32>,
    pub(super) queue: Option<&'a str>,
    pub(super) priority: Option<i16>,
    pub(super) concurrency_key: Option<&'a str>,
    pub(super) rate: Option<&'a RateTake>,
    pub(super) wait: Option<&'a Wait>,
    pub(super) quorum: Option<i32>,
    pub(super) shielded: bool,
}

impl<'a> Written<'a> {
    pub(super) fn of(t: &'a Transition) -> Self {
        match &t.change {
            Change::Advance(a) => Self::advance(a),
            Change::Retry { after, error } => {
                Self { kind: 3, after_us: Some(micros(*after)), error: error.as_deref(), ..Self::default() }
            }
            Change::Done { result, carry } => {
                let carry = carry.as_ref().map(|c| c.as_str());
                Self { kind: 4, result: Some(result.as_str()), carry, ..Self::default() }
            }
            Change::Fail { reason, carry } => {
                let carry = carry.as_ref().map(|c| c.as_str());
                Self { kind: 5, error: Some(reason.as_str()), carry, ..Self::default() }
            }
            Change::Repark => Self { kind: 6, ..Self::default() },
            Change::Release => Self { kind: 7, ..Self::default() },
        }
    }

    fn advance(a: &'a Advance) -> Self {
        let entry = &a.entry;
        let (deadline, kind) = match (&entry.wait, &entry.join, entry.timer) {
            (Some(wait), ..) => (wait.deadline, 2),
            (None, Some(join), _) => (join.deadline, 8),
            (None, None, timer) => (timer, i16::from(!a.in_place)),
        };
        let (after_us, at_us) = match deadline {
            None if kind == 1 => (Some(micros(a.delay)), None),
            deadline => split(deadline),
        };
        Self {
            kind,
            step: Some(entry.step),
            state: Some(entry.state.as_str()),
            carry: a.carry.as_ref().map(|c| c.as_str()),
            result: None,
            error: a.error.as_deref(),
            after_us,
            at_us,
            version: Some(a.version),
            // In place nothing that an index holds is written.
            queue: (kind != 0).then_some(a.queue.as_str()),
            priority: (kind != 0).then_some(a.priority),
            concurrency_key: entry.concurrency.as_ref().map(|slot| slot.key.as_str()),
            rate: entry.rate.as_ref(),
            shielded: entry.shielded,
            wait: entry.wait.as_ref(),
            quorum: entry.join.as_ref().and_then(|j| j.quorum).map(|n| i32::try_from(n).unwrap_or(i32::MAX)),
        }
    }
}

/// Whether it is one of the commonest outcomes, for which fewer columns are enough: on in place, on and requeued, or done,
/// to a step that waits for nothing, has no children, and that nothing leaves.
pub(super) fn is_plain(t: &Transition) -> bool {
    let has_children = t.effects.as_ref().is_some_and(|effects| !effects.children.is_empty());
    let is_exit = t.cancels || t.expires || t.exits.expires || !t.exits.signals.is_empty();
    !has_children && !is_exit && is_plain_change(&t.change)
}

/// In a mixed batch so many plain outcomes pay for a statement of their own.
const APART: usize = 50;

/// Whether the plain outcomes of a batch go by a statement of their own.
pub(super) fn goes_apart<'t>(batch: impl IntoIterator<Item = &'t Transition>) -> bool {
    let (plain, others): (Vec<&Transition>, Vec<&Transition>) = batch.into_iter().partition(|t| is_plain(t));
    others.is_empty() || plain.len() >= APART
}

fn is_plain_change(change: &Change) -> bool {
    match change {
        Change::Advance(advance) => {
            let Advance { entry, error, .. } = &**advance;
            let waits = entry.wait.is_some() || entry.join.is_some() || entry.timer.is_some();
            !waits && !entry.shielded && error.is_none()
        }
        Change::Done { .. } => true,
        Change::Retry { .. } | Change::Fail { .. } | Change::Repark | Change::Release => false,
    }
}

/// The number of a mode; any one signal, the plain case, has none.
pub(super) fn await_mode(wait: &Wait) -> Option<i16> {
    match wait.mode {
        AwaitMode::Any => None,
        AwaitMode::AnyBiased => Some(1),
        AwaitMode::All => Some(2),
        AwaitMode::Count(_) => Some(3),
    }
}

/// The signals that leave a step, if any.
pub(super) fn exit_signals(exits: &Exits) -> Option<&[&'static str]> {
    Some(exits.signals.as_slice()).filter(|names| !names.is_empty())
}

/// Why a child was cancelled.
pub(super) const CHILD_REASON: &str = "its parent does not wait for it any more";

/// What the history calls a change.
pub(super) fn outcome(kind: i16) -> &'static str {
    match kind {
        0 | 1 => "goto",
        2 => "wait",
        8 => "fan_out",
        3 => "retry",
        4 => "done",
        _ => "failed",
    }
}

/// Whether the inbox goes with the row.
pub(super) fn empties_inbox(t: &Transition) -> bool {
    match &t.change {
        Change::Done { .. } => t.may_have_signals,
        Change::Advance(_) | Change::Retry { .. } | Change::Fail { .. } | Change::Repark | Change::Release => false,
    }
}

/// Microseconds; durations are bounded by 100 years before they get here.
pub(super) fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

/// A moment as it is stored. One before 1970 is past, whatever it was: Postgres has no year -9999.
pub(super) fn moment(at: Timestamp) -> i64 {
    at.as_microsecond().max(0)
}

/// A stored moment; one beyond the calendar of jiff (year 9999) is its end.
pub(super) fn timestamp(micros: i64) -> Timestamp {
    Timestamp::from_microsecond(micros).unwrap_or(if micros < 0 { Timestamp::MIN } else { Timestamp::MAX })
}

/// A deadline as a span or a moment, in microseconds.
pub(super) fn split(deadline: Option<Deadline>) -> (Option<i64>, Option<i64>) {
    match deadline {
        Some(Deadline::After(after)) => (Some(micros(after)), None),
        Some(Deadline::At(at)) => (None, Some(moment(at))),
        None => (None, None),
    }
}
