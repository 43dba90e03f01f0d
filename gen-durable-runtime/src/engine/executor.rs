//! Runs one claimed instance, step by step, until it waits, ends, or another should have its place.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use jiff::{SignedDuration, Timestamp};

use super::{
    attempt,
    catalog::Served,
    committer::Refused,
    failing::{crashed, settle, undecodable},
    held::Held,
    scheduler::Alone,
    shared::Shared,
    takeover::{Taken, take_over},
};
use crate::{
    machine::StepError,
    model::{
        Advance, Change, Claim, ClaimToken, Committed, ConcurrencySlot, Deadline, Entry, Exits, InstanceId, Transition,
        Wake,
        plan::{self, Rules},
    },
};

/// When the claim was made.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClaimedAt {
    /// By the database's clock,
    pub(super) database: Timestamp,
    /// which came here at this moment.
    pub(super) here: Instant,
    /// The lease is no younger than this: when the claim was asked for.
    pub(super) since: Instant,
    /// The database's clock stands still: in tests.
    pub(super) stands: bool,
}

impl ClaimedAt {
    /// The database's time at a moment here.
    pub(super) fn database_time(&self, moment: Instant) -> Timestamp {
        if self.stands {
            return self.database;
        }
        let since = SignedDuration::try_from(moment.saturating_duration_since(self.here)).unwrap_or_default();
        self.database.checked_add(since).unwrap_or(self.database)
    }
}

/// A claim in the books of this process, for as long as this stands.
struct Holding<'s> {
    shared: &'s Shared,
    id: InstanceId,
    token: ClaimToken,
}

impl Drop for Holding<'_> {
    fn drop(&mut self) {
        self.shared.held.remove(self.id, &self.token);
    }
}

impl Shared {
    /// Carries `claim` as far as it goes in this worker.
    pub(super) async fn execute(self: Arc<Self>, claim: Box<Claim>, at: ClaimedAt, alone: Option<Alone>) {
        let held = self.held.add(&claim, at.since);
        let _until_the_end = Holding { shared: &self, id: claim.id, token: claim.token.clone() };
        self.carry_on(claim, &held, at, alone).await;
    }

    async fn carry_on(&self, mut claim: Box<Claim>, held: &Held, at: ClaimedAt, mut alone: Option<Alone>) {
        // Claims are only made for what the catalog knows.
        let Some(served) = self.catalog.find(&claim.machine, claim.version).cloned() else { return };
        let mut first = self.enter_version(&served, &mut claim);
        // Before anything of the user's runs; a cancelled row that crashed under it does not run again.
        if claim.cancelled || claim.expired || claim.exit.is_some() {
            // What is rare is boxed, here and below: a run is moved when it is spawned, all of it.
            first = Box::pin(self.leaving(&served, &claim, rules(&served, false))).await.or(first);
        }
        for steps in 1.. {
            let began = Instant::now();
            let may_continue = steps < self.config.in_place && !self.is_stopping() && !self.pauses.holds(&claim.queue);
            let transition = match first.take() {
                Some(transition) => Some(transition),
                None => self.step(&served, &claim, held, at, may_continue).await,
            };
            let Some(transition) = transition else { return };
            let started = served.info.history.then(|| at.database_time(began)).filter(|_| leaves_a_line(&transition));
            let (exits, may_hold) = (exits(&served, &claim, &transition), served.may_hold);
            let transition = Transition { started, exits, may_hold, ..transition };
            match self.persist(&served, &claim, transition).await {
                Some((Committed::Kept, Transition { change: Change::Advance(advance), .. })) => {
                    drop(alone.take());
                    held.goes_on(advance.entry.step);
                    self.key_released(&claim, advance.entry.concurrency.as_ref());
                    *claim = onward(*claim, *advance);
                }
                Some((Committed::Cancelled, _)) => {
                    first = Some(Box::pin(self.cancelled(&served, &claim, rules(&served, false))).await);
                }
                Some((Committed::ClaimLost, _)) => {
                    self.stats.lost();
                    tracing::warn!(machine = claim.machine, id = %claim.id, step = claim.step, "claim lost, outcome dropped");
                    return;
                }
                Some((committed, transition)) => return self.wake_after(&claim, &transition, committed),
                None => return,
            }
        }
    }

    /// A row of an older version becomes one of this; what must happen before it can run, if anything.
    fn enter_version(&self, served: &Served, claim: &mut Claim) -> Option<Transition> {
        let rules = rules(served, false);
        let step = served.info.step(&claim.step);
        // Counted before anything of the user's runs: a conversion may be what kills the process.
        if claim.crashes > step.map_or_else(Default::default, |s| s.retry).crashes {
            return Some(plan::failed(claim, &crashed(claim.crashes)));
        }
        match take_over(served, claim, rules) {
            Ok(None) if claim.wake == Wake::Unsatisfied => Some(plan::repark(claim)),
            Ok(None) => None,
            Ok(Some(Taken { claim: ours, enters })) => {
                *claim = ours;
                enters
            }
            Err(failure) => Some(settle(served, step, claim, &failure, rules)),
        }
    }

    /// What the row becomes; `None` when the claim is no longer ours to end.
    async fn step(
        &self,
        served: &Served,
        claim: &Claim,
        held: &Held,
        at: ClaimedAt,
        may_continue: bool,
    ) -> Option<Transition> {
        let rules = rules(served, may_continue);
        let Some(step) = served.info.step(&claim.step) else {
            let error = format!("machine {} has no step {}", served.info.name, claim.step);
            return Some(settle(served, None, claim, &undecodable(error), rules));
        };
        if claim.crashes >= step.retry.crashes {
            return Some(settle(served, Some(step), claim, &crashed(claim.crashes), rules));
        }
        let began = Instant::now();
        if step.join.as_ref().is_some_and(|join| join.cancel_rest) {
            Box::pin(self.cancel_children(claim.id, Some(claim.transitions))).await;
        }
        let ran = attempt::run(&self.store, served, step, claim, held, at).await;
        let transition = match ran {
            // Not in place: whatever ran next on this claim would be dropped at once.
            None if held.is_cancelled() && !self.is_stopping() => {
                Box::pin(self.cancelled(served, claim, self::rules(served, false))).await
            }
            None => return self.dropped(claim),
            Some(Err(failure)) => settle(served, Some(step), claim, &failure, rules),
            Some(Ok(ran)) => plan::outcome_with(claim, ran.verdict, ran.effects, rules).unwrap_or_else(|invalid| {
                settle(served, Some(step), claim, &StepError::from(invalid).into_failure(), rules)
            }),
        };
        log(claim, &transition, began.elapsed());
        Some(transition)
    }

    /// A run is dropped when the worker stops, and gives its claim back; or when it lost its claim.
    fn dropped(&self, claim: &Claim) -> Option<Transition> {
        if self.is_stopping() {
            return Some(plan::release(claim));
        }
        self.stats.lost();
        None
    }

    /// Waits until the outcome is durable. One that cannot be stored becomes an error of its step.
    async fn persist(&self, served: &Served, claim: &Claim, transition: Transition) -> Option<(Committed, Transition)> {
        let started = transition.started;
        match self.committer.commit(transition).await {
            Ok(committed) => Some(committed),
            Err(refused) => Box::pin(self.persist_refusal(served, claim, started, refused)).await,
        }
    }

    async fn persist_refusal(
        &self,
        served: &Served,
        claim: &Claim,
        started: Option<Timestamp>,
        Refused(error): Refused,
    ) -> Option<(Committed, Transition)> {
        let unstorable = || StepError::new(format!("the outcome cannot be stored: {error}")).into_failure();
        let failure = error.failure().cloned().unwrap_or_else(unstorable);
        let step = served.info.step(&claim.step);
        for transition in [settle(served, step, claim, &failure, rules(served, false)), plan::failed(claim, &failure)] {
            let (exits, may_hold) = (exits(served, claim, &transition), served.may_hold);
            let transition = Transition { started, exits, may_hold, ..transition };
            match self.committer.commit(transition).await {
                Ok(committed) => return Some(committed),
                Err(Refused(error)) => tracing::error!(%error, id = %claim.id, "the failure cannot be stored either"),
            }
        }
        None
    }

    /// A key that this claim gave up: whoever waits for it may stand in any queue.
    fn key_released(&self, claim: &Claim, now: Option<&ConcurrencySlot>) {
        if claim.concurrency_key.is_some() && claim.concurrency_key.as_ref() != now.map(|slot| &slot.key) {
            self.waker.bells.ring_all();
        }
    }

    /// Tells whoever must act on what was committed.
    fn wake_after(&self, claim: &Claim, transition: &Transition, committed: Committed) {
        self.key_released(claim, None);
        let is_due = committed != Committed::Parked;
        if committed == Committed::Leaves {
            return self.waker.wake(stands_in(claim, transition));
        }
        match &transition.change {
            // The inbox had what it was to wait for, or there are no children.
            Change::Advance(advance) if is_due && (advance.entry.wait.is_some() || advance.entry.join.is_some()) => {
                self.waker.wake(&advance.queue)
            }
            Change::Advance(advance) => self.wake_for(advance),
            Change::Retry { after, .. } => self.waker.due_in(&claim.queue, *after),
            Change::Repark if is_due => self.waker.wake(&claim.queue),
            Change::Release => self.waker.wake(&claim.queue),
            Change::Done { .. } | Change::Fail { .. } | Change::Repark => {}
        }
    }

    fn wake_for(&self, advance: &Advance) {
        let deadline = advance.entry.wait.as_ref().and_then(|w| w.deadline);
        let deadline = deadline.or(advance.entry.join.as_ref().and_then(|j| j.deadline));
        match (deadline, advance.entry.timer) {
            (Some(Deadline::After(after)), _) => self.waker.bells.deadlines.ring_in(after),
            (Some(Deadline::At(at)), _) => self.waker.bells.deadlines.ring_in(self.until(at)),
            (None, Some(Deadline::After(after))) => self.waker.due_in(&advance.queue, after),
            (None, Some(Deadline::At(at))) => self.waker.due_in(&advance.queue, self.until(at)),
            (None, None) => self.waker.due_in(&advance.queue, advance.delay),
        }
    }
}

/// What leaves the step at which the row stands once this is written.
fn exits(served: &Served, claim: &Claim, transition: &Transition) -> Exits {
    match &transition.change {
        Change::Advance(advance) => served.info.exits_at(advance.entry.step),
        Change::Retry { .. } | Change::Repark => served.info.exits_at(&claim.step),
        Change::Done { .. } | Change::Fail { .. } | Change::Release => Exits::default(),
    }
}

/// The queue of the row once this is written.
fn stands_in<'a>(claim: &'a Claim, transition: &'a Transition) -> &'a str {
    match &transition.change {
        Change::Advance(advance) => &advance.queue,
        Change::Retry { .. } | Change::Repark | Change::Release => &claim.queue,
        Change::Done { .. } | Change::Fail { .. } => &claim.queue,
    }
}

/// What became of a run; what never ran leaves none.
fn leaves_a_line(transition: &Transition) -> bool {
    match &transition.change {
        Change::Advance(_) | Change::Retry { .. } | Change::Done { .. } | Change::Fail { .. } => true,
        Change::Repark | Change::Release => false,
    }
}

/// The claim as it stands after a commit in place.
fn onward(claim: Claim, advance: Advance) -> Claim {
    let Entry { step, state, concurrency, .. } = advance.entry;
    let same = concurrency.as_ref().map(|slot| &slot.key) == claim.concurrency_key.as_ref();
    let (slot, holds) = if same { (claim.slot, claim.holds) } else { (None, false) };
    Claim {
        slot,
        holds,
        version: advance.version,
        step: step.to_owned(),
        state,
        carry: advance.carry.or(claim.carry),
        attempt: 0,
        errors: 0,
        crashes: 0,
        transitions: claim.transitions + 1,
        concurrency_key: concurrency.map(|slot| slot.key),
        wake: Wake::Ready,
        ..claim
    }
}

fn rules(served: &Served, may_continue: bool) -> Rules {
    let info = served.info;
    let awaits_signals = served.awaits_signals;
    Rules { version: info.version, queue: info.queue, priority: info.priority, may_continue, awaits_signals }
}

fn log(claim: &Claim, transition: &Transition, took: Duration) {
    let (outcome, to) = match &transition.change {
        Change::Advance(advance) => ("goto", advance.entry.step),
        Change::Retry { .. } => ("retry", ""),
        Change::Done { .. } => ("done", ""),
        Change::Fail { .. } => ("fail", ""),
        Change::Repark => ("park", ""),
        Change::Release => ("released", ""),
    };
    let ms = took.as_micros() as f64 / 1_000.0;
    tracing::debug!(machine = claim.machine, id = %claim.id, step = claim.step, attempt = claim.attempt, outcome, to, ms, "step");
    if let Change::Fail { .. } = &transition.change {
        // The reason stands on the row; it may hold what must not be logged.
        tracing::info!(machine = claim.machine, id = %claim.id, step = claim.step, "ended as failed");
    }
}
