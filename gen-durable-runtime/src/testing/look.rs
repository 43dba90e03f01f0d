use std::{fmt, marker::PhantomData};

use jiff::Timestamp;

use super::timeline::timeline;
use crate::{
    Error,
    client::{Client, Handle},
    machine::{ChildCounts, Machine, Signal, Step},
    model::{HistoryEntry, Invalid, Json, Snapshot, Status},
};

/// An instance as a test sees it at one moment. What is expected of it and is not so fails the test, and shows the
/// instance's timeline.
pub struct Look<M> {
    snapshot: Snapshot,
    history: Vec<HistoryEntry>,
    children: Vec<(String, ChildCounts)>,
    now: Timestamp,
    _machine: PhantomData<fn() -> M>,
}

impl<M: Machine> Look<M> {
    pub(super) async fn at(client: &Client, handle: &Handle<M>, now: Timestamp) -> Result<Self, Error> {
        // It says so when the instance is of another machine.
        handle.get().await?;
        let snapshot = handle.show().await?;
        let history = client.history(snapshot.id).await?;
        let fan_out = history.iter().rev().find(|line| line.outcome == "fan_out");
        let round = fan_out.map_or(snapshot.transitions, |line| line.visit + 1);
        let children = client.store().child_counts(snapshot.id, round).await?;
        Ok(Self { snapshot, history, children, now, _machine: PhantomData })
    }

    /// Everything that is stored of it.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Where it stands.
    pub fn status(&self) -> Status {
        self.snapshot.status
    }

    /// The step it is at, or ended at, as the enum.
    #[track_caller]
    pub fn state(&self) -> M {
        let Snapshot { version, step, state, .. } = &self.snapshot;
        self.read(M::load_version(*version, step, &Json::stored(state.get())))
    }

    /// What all its steps share.
    #[track_caller]
    pub fn carry(&self) -> M::Carry {
        let carry = self.snapshot.carry.as_ref().map(|carry| Json::stored(carry.get()));
        self.read(M::load_carry(self.snapshot.version, carry.as_ref()))
    }

    /// It has not ended, and its next run is of this step: with this data.
    #[track_caller]
    pub fn at_step<S: Step<Machine = M>>(&self) -> S {
        self.require(!self.status().is_ended() && self.is_at(S::NAME), format_args!("expected at step {}", S::NAME));
        self.read(S::decode(&Json::stored(self.snapshot.state.get())))
    }

    /// It waits for this signal, alone or among others.
    #[track_caller]
    pub fn waits_for<G: Signal>(&self) -> &Self {
        let waits = self.status() == Status::AwaitingSignal && self.snapshot.awaits.iter().any(|name| name == G::NAME);
        self.require(waits, format_args!("expected to wait for {}", G::NAME))
    }

    /// It waits for its children.
    #[track_caller]
    pub fn waits_for_children(&self) -> &Self {
        self.require(self.status() == Status::AwaitingChildren, "expected to wait for its children")
    }

    /// It runs no earlier than this, and waits for nothing else.
    #[track_caller]
    pub fn due_at(&self) -> Timestamp {
        self.require(self.status() == Status::Runnable, "expected to be due now or later");
        self.snapshot.eligible_at
    }

    /// When its wait ends without its signals or children.
    pub fn times_out_at(&self) -> Option<Timestamp> {
        self.snapshot.await_deadline.filter(|_| match self.status() {
            Status::AwaitingSignal | Status::AwaitingChildren => true,
            Status::Runnable | Status::Executing | Status::Done | Status::Failed => false,
        })
    }

    /// When the machine's `deadline` leads it to its `on_deadline`, if that is still to come.
    pub fn deadline(&self) -> Option<Timestamp> {
        self.snapshot.deadline
    }

    /// It is done: with this result.
    #[track_caller]
    pub fn done(&self) -> M::Output {
        self.require(self.status() == Status::Done, "expected done");
        let result = self.snapshot.result.as_ref().map_or("null", |result| result.get());
        self.read(M::load_output(&Json::stored(result)))
    }

    /// It ended as failed: for this reason.
    #[track_caller]
    pub fn failed(&self) -> &str {
        self.require(self.status() == Status::Failed, "expected failed");
        self.error().unwrap_or_default()
    }

    /// Its last error, or why it failed.
    pub fn error(&self) -> Option<&str> {
        self.snapshot.last_error.as_deref()
    }

    /// Runs of this visit so far that did not leave it.
    pub fn attempt(&self) -> u32 {
        self.snapshot.attempt
    }

    /// How the children of this machine stand: those of its last fan-out.
    pub fn children<C: Machine>(&self) -> ChildCounts {
        let counts =
            self.children.iter().filter(|(name, _)| name == C::NAME || C::INFO.aliases.contains(&name.as_str()));
        counts.fold(ChildCounts::default(), |sum, (_, counts)| {
            ChildCounts::new(sum.started + counts.started, sum.done + counts.done, sum.failed + counts.failed)
        })
    }

    /// What its runs came to, oldest first; a machine with `history = "off"` has none.
    pub fn history(&self) -> &[HistoryEntry] {
        &self.history
    }

    /// The stored names of the steps that ran, in order, a retried one as often as it ran.
    #[track_caller]
    pub fn ran<'s>(&self, steps: impl IntoIterator<Item = &'s str>) -> &Self {
        let steps: Vec<&str> = steps.into_iter().collect();
        let ran = self.history.iter().map(|line| line.from.as_str());
        self.require(ran.eq(steps.iter().copied()), format_args!("expected the runs {}", steps.join(", ")))
    }

    fn is_at(&self, step: &str) -> bool {
        let stored = self.snapshot.step.as_str();
        // The row may bear an older name of the step.
        stored == step || M::INFO.step(stored).is_some_and(|info| info.name == step)
    }

    #[track_caller]
    fn require(&self, holds: bool, what: impl fmt::Display) -> &Self {
        assert!(holds, "{what}\n{self}");
        self
    }

    #[track_caller]
    fn read<T>(&self, read: Result<T, Invalid>) -> T {
        match read {
            Ok(data) => data,
            Err(invalid) => panic!("{invalid}\n{self}"),
        }
    }
}

/// Its timeline.
impl<M> fmt::Display for Look<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&timeline(&self.snapshot, &self.history, self.now))
    }
}

impl<M> fmt::Debug for Look<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
