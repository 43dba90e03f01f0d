use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use jiff::{SignedDuration, Timestamp};

use super::{Cancel, Cancellation, ChildSource};
use crate::model::InstanceId;

/// What a handler is told about the run it is in.
///
/// **The handler's contract.** The future may be dropped at any `.await`: at the run limit, when the instance is
/// cancelled, when the claim was lost, when the worker drains. What was given to `spawn_blocking` runs on. A panic
/// is an error of the step; with `panic = "abort"` it is a crash.
#[derive(Debug)]
pub struct StepContext {
    id: InstanceId,
    attempt: u32,
    transitions: i64,
    database_now: Timestamp,
    /// `None`: the clock stands still.
    claimed: Option<Instant>,
    cancel: Cancel,
    children: Option<Arc<dyn ChildSource>>,
}

/// What the engine knows when it runs a step.
#[derive(Debug)]
pub struct ContextParts {
    /// The instance.
    pub id: InstanceId,
    /// Errors of this visit so far; 0 on its first run.
    pub attempt: u32,
    /// Transitions so far; with the id it names this visit.
    pub transitions: i64,
    /// The database's time at the claim.
    pub database_now: Timestamp,
    /// Fired when the instance is to end.
    pub cancel: Cancel,
}

impl StepContext {
    /// For the engine: `database_now` is taken as the time of this call.
    pub fn new(parts: ContextParts) -> Self {
        let ContextParts { id, attempt, transitions, database_now, cancel } = parts;
        Self { id, attempt, transitions, database_now, cancel, claimed: Some(Instant::now()), children: None }
    }

    /// For unit tests: instance 1, first attempt, never cancelled, this computer's time.
    pub fn test() -> Self {
        let (id, database_now, cancel) = (InstanceId::new(1), Timestamp::now(), Cancel::new());
        Self::new(ContextParts { id, attempt: 0, transitions: 0, database_now, cancel })
    }

    /// For tests: time stands still while the handler runs.
    pub fn standing(mut self) -> Self {
        self.claimed = None;
        self
    }

    /// For the engine: where a join step reads its children.
    pub fn with_children(mut self, children: Arc<dyn ChildSource>) -> Self {
        self.children = Some(children);
        self
    }

    pub(super) fn children(&self) -> Option<Arc<dyn ChildSource>> {
        self.children.clone()
    }

    /// The instance.
    pub fn id(&self) -> InstanceId {
        self.id
    }

    /// How often this visit failed before: 0 on its first run.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The same over all retries and crashes of this visit, different for every other one: hand it to whatever
    /// the step calls, so that it does its work once.
    pub fn idempotency_key(&self) -> String {
        format!("{}-{}", self.id, self.transitions)
    }

    /// The database's time: read at the claim, carried on by a monotonic clock.
    pub fn now(&self) -> Timestamp {
        let elapsed = self.claimed.map_or(Duration::ZERO, |claimed| claimed.elapsed());
        let elapsed = SignedDuration::try_from(elapsed).unwrap_or(SignedDuration::MAX);
        self.database_now.checked_add(elapsed).unwrap_or(Timestamp::MAX)
    }

    /// Whether the instance was told to end.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_fired()
    }

    /// Resolves when the claim was lost or the worker gives it back; the future is dropped right after. What was
    /// started elsewhere (a thread, a task) can be told by it.
    pub fn cancelled(&self) -> Cancellation {
        self.cancel.fired()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visit_has_one_key_over_all_its_attempts() {
        let of = |attempt, transitions| {
            let (id, cancel) = (InstanceId::new(7), Cancel::new());
            StepContext::new(ContextParts { id, attempt, transitions, database_now: Timestamp::UNIX_EPOCH, cancel })
        };
        assert_eq!(of(0, 3).idempotency_key(), "7-3");
        assert_eq!(of(4, 3).idempotency_key(), "7-3");
        assert_eq!(of(0, 4).idempotency_key(), "7-4");
        assert!(of(0, 0).now() >= Timestamp::UNIX_EPOCH);
    }
}
