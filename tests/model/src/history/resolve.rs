//! From a step as it is drawn to a call: which instance, which claim, and what the engine makes of an ending.

use std::time::Duration;

use gen_durable_runtime::{
    model::{
        Change, Claim, ClaimToken, ConcurrencySlot, Deadline, Effects, Entry, Failure, FailureKind, InstanceId, Join,
        Json, RetryPolicy, SignalSpec, StartSpec, Status, Target, Transition, Verdict, Wait, Wake,
        plan::{self, Rules},
    },
    store::{Ended, Filter},
};
use jiff::Timestamp;
use serde_json::Value;

use super::{Beside, Ending, EntryPlan, Rule, SignalPlan, StartPlan, When, Whom, pools};
use crate::{HOUR, model::Model};

/// Two errors, then the step has failed for good.
const POLICY: RetryPolicy = RetryPolicy { attempts: 3, backoff: hours(1), cap: hours(2), crashes: 10 };

pub(super) const fn hours(hours: u8) -> Duration {
    Duration::from_secs(3_600 * hours as u64)
}

/// One of what there is.
pub(super) fn pick<T>(from: &[T], at: u8) -> Option<&T> {
    from.get(usize::from(at).checked_rem(from.len())?)
}

pub(super) fn start(model: &Model, at: usize, s: &StartPlan) -> StartSpec {
    StartSpec {
        carry: s.carry.as_ref().map(json),
        key: s.key.map(str::to_owned),
        key_kept: s.key_kept,
        delay: hours(s.delay),
        defaults: (pools::QUEUES[0], 0),
        queue: s.queue.map(str::to_owned),
        priority: s.priority,
        ..StartSpec::plain(s.machine.0, s.machine.1, entry(model, at, &s.entry))
    }
}

/// One that an outcome starts: no other begins with its state, by which it is found again.
fn born(model: &Model, at: usize, s: &StartPlan) -> StartSpec {
    let mut state = s.entry.state.clone();
    state["nth"] = unique(model, at).into();
    let entry = EntryPlan { state, ..s.entry.clone() };
    start(model, at, &StartPlan { entry, ..s.clone() })
}

fn effects(model: &Model, at: usize, children: &[StartPlan], beside: &Beside) -> Effects {
    let all = |plans: &[StartPlan], first: usize| {
        (first..).zip(plans).map(|(at, s)| born(model, at, s)).collect::<Vec<StartSpec>>()
    };
    Effects {
        children: all(children, at + 1),
        spawned: all(&beside.spawned, at + 7),
        signals: beside.signals.iter().map(|s| signal(model, s)).collect(),
        work: vec![],
        charges: vec![],
    }
}

pub(super) fn signal(model: &Model, s: &SignalPlan) -> SignalSpec {
    let (name, dedup) = (s.name.to_owned(), s.dedup.map(str::to_owned));
    SignalSpec { target: target(model, &s.target), name, payload: json(&s.payload), dedup }
}

/// Mostly one of the youngest: of the old ones many have ended.
pub(super) fn target(model: &Model, whom: &Whom) -> Target {
    let youngest: Vec<InstanceId> = model.instances.keys().rev().take(6).copied().collect();
    match whom {
        Whom::One(at) => Target::Id(pick(&youngest, *at).copied().unwrap_or(NOBODY)),
        Whom::Key(key) => Target::Key((*key).to_owned()),
        Whom::Nobody => Target::Id(NOBODY),
    }
}

const NOBODY: InstanceId = InstanceId::new(i64::MAX - 1);

pub(super) fn filter(model: &Model, by: u8, value: u8, before: Option<u8>, limit: u32) -> Filter {
    let ids: Vec<InstanceId> = model.instances.keys().copied().collect();
    let before = before.and_then(|at| pick(&ids, at)).copied();
    let filter = Filter::default().limit(limit);
    let filter = match by {
        0 => filter.machine(pick(pools::MACHINES, value).expect("some").0),
        1 => filter.status(*pick(&Status::ALL, value).expect("some")),
        2 => filter.queue(*pick(pools::QUEUES, value).expect("some")),
        3 => filter.step(*pick(pools::STEPS, value).expect("some")),
        4 => filter.status(Status::Runnable).queue(pools::QUEUES[0]).machine("m"),
        _ => filter,
    };
    before.map_or(filter.clone(), |id| filter.before(id))
}

/// What the engine makes of an ending: by the plan. One machine leaves no history.
pub(super) fn transition(model: &Model, at: usize, claim: &Claim, ending: &Ending, beside: &Beside) -> Transition {
    let t = planned(model, at, claim, ending, beside);
    let leaves_a_line = claim.machine == "m" && !matches!(t.change, Change::Repark | Change::Release);
    let began = Timestamp::from_microsecond(model.epoch.as_microsecond() + model.next_tick()).expect("a moment");
    Transition { started: leaves_a_line.then_some(began), ..t }
}

fn planned(model: &Model, at: usize, claim: &Claim, ending: &Ending, beside: &Beside) -> Transition {
    let rules = |may_continue| Rules {
        version: 2,
        queue: pools::QUEUES[0],
        priority: 0,
        may_continue,
        awaits_signals: claim.machine == "m",
    };
    let verdict = match ending {
        Ending::Release => return plan::release(claim),
        Ending::Error { text, permanent, catch } => {
            let failure = Failure { kind: FailureKind::Error, error: (*text).to_owned(), permanent: *permanent };
            let caught = |catch| plan::caught(claim, &failure, entry(model, at, catch), None, rules(false));
            return plan::retry(claim, &failure, &POLICY, 0.0).unwrap_or_else(|| match catch {
                Some(catch) => caught(catch).expect("storable"),
                None => plan::failed(claim, &failure),
            });
        }
        _ if claim.wake == Wake::Unsatisfied => return plan::repark(claim),
        Ending::Goto { entry: e, delay, carry, .. } => {
            Verdict::Goto { entry: entry(model, at, e), delay: hours(*delay), carry: carry.as_ref().map(json) }
        }
        Ending::FanOut { entry: e, quorum, deadline: when, .. } => {
            let join = Join { quorum: *quorum, deadline: when.map(|when| deadline(model, at, when)) };
            let plain = EntryPlan { rule: Rule::Plain, ..e.clone() };
            let entry = Entry { join: Some(join), ..entry(model, at, &plain) };
            Verdict::Goto { entry, delay: Duration::ZERO, carry: None }
        }
        Ending::RetryIn(after) => Verdict::RetryIn(hours(*after)),
        Ending::Done { result, carry } => Verdict::Done { result: json(result), carry: carry.as_ref().map(json) },
        Ending::Fail { reason, carry } => {
            Verdict::Fail { reason: (*reason).to_owned(), carry: carry.as_ref().map(json) }
        }
    };
    let may_continue = matches!(ending, Ending::Goto { may_continue: true, .. });
    let children: &[StartPlan] = if let Ending::FanOut { children, .. } = ending { children } else { &[] };
    let effects = effects(model, at, children, beside);
    plan::outcome_with(claim, verdict, effects, rules(may_continue)).expect("storable")
}

fn entry(model: &Model, at: usize, e: &EntryPlan) -> Entry {
    let deadline = |when| deadline(model, at, when);
    let mut entry = Entry::plain(e.step, json(&e.state));
    match &e.rule {
        Rule::Plain => {}
        Rule::Timer(when) => entry.timer = Some(deadline(*when)),
        Rule::Wait(plan, when) => {
            let (names, groups, mode) = (plan.0.into(), plan.1.into(), plan.2);
            entry.wait = Some(Wait { names, groups, mode, deadline: when.map(deadline) });
        }
    }
    let concurrency = e.slot.map(|key| ConcurrencySlot { key: key.to_owned(), limit: None });
    Entry { queue: e.queue, priority: e.priority, concurrency, ..entry }
}

/// A moment that no other row of this history has: of two that end at once either may come first. A little before the
/// hour, where no row was ever written.
fn deadline(model: &Model, at: usize, when: When) -> Deadline {
    let moment = |h: i8| model.epoch.as_microsecond() + i64::from(h) * HOUR - unique(model, at);
    match when {
        When::In(h) => Deadline::After(hours(h)),
        When::At(h) => Deadline::At(Timestamp::from_microsecond(moment(h)).expect("a moment")),
        When::Never => Deadline::At(Timestamp::MAX),
        When::Ever => Deadline::At(Timestamp::MIN),
    }
}

/// A number that nothing else of this history has: `at` is below 100, and each row written is a tick.
fn unique(model: &Model, at: usize) -> i64 {
    100 * model.next_tick() + i64::try_from(at).expect("few")
}

/// A claim in hand after its commit in place.
pub(super) fn onward(claim: &Claim, t: &Transition) -> Claim {
    let gen_durable_runtime::model::Change::Advance(a) = &t.change else { return claim.clone() };
    Claim {
        version: a.version,
        step: a.entry.step.to_owned(),
        state: a.entry.state.clone(),
        carry: a.carry.clone().or(claim.carry.clone()),
        attempt: 0,
        errors: 0,
        crashes: 0,
        transitions: claim.transitions + 1,
        concurrency_key: a.entry.concurrency.as_ref().map(|slot| slot.key.clone()),
        wake: Wake::Ready,
        ..claim.clone()
    }
}

pub(super) fn token(worker: &str, number: usize) -> ClaimToken {
    ClaimToken::new(format!("{worker}#{number}"))
}

fn json(value: &Value) -> Json {
    Json::encode("value", value).expect("storable")
}

/// Done and failed ones of each machine of the pools that comes once: two bits each.
pub(super) fn ended(which: u8) -> Vec<Ended> {
    let machines = pools::MACHINES[1..].iter();
    let both = machines.flat_map(|(machine, version)| [Status::Done, Status::Failed].map(|s| (*machine, *version, s)));
    let chosen = both.enumerate().filter(|(at, _)| which & (1 << at) != 0);
    chosen.map(|(_, (machine, version, status))| Ended { machine: machine.to_owned(), version, status }).collect()
}
