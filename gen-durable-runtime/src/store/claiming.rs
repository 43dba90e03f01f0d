//! What is claimed and committed, and what becomes of leases.

use std::{collections::BTreeSet, time::Duration};

use jiff::Timestamp;

use crate::model::{
    Claim, ClaimToken, Committed, InstanceId,
    admission::{LimitConfig, LimitKind},
};

/// What to claim.
#[derive(Debug)]
pub struct ClaimOrder<'a> {
    /// The queue.
    pub queue: &'a str,
    /// At most so many rows.
    pub limit: u32,
    /// The token of this claim.
    pub token: ClaimToken,
    /// How long the claim stands without renewal.
    pub lease: Duration,
    /// What this worker can run.
    pub known: &'a Known,
    /// Whether a row whose process died before is welcome; at most one comes.
    pub crashed: bool,
    /// Whether rows under gates and rate limits are decided on, and what is blocked is set aside. A plain claim is one statement,
    /// takes only rows without such limits, and tells whether there were others.
    pub limits: bool,
    /// Whether a plain claim looks how many rows wait for busy keys, and how many are of unknown code.
    pub look: bool,
}

/// The stored machines, versions and steps a worker can run: columns of one table.
#[derive(Debug, Default)]
pub struct Known {
    /// Machine names.
    pub machines: Vec<String>,
    /// Versions.
    pub versions: Vec<i32>,
    /// Step names.
    pub steps: Vec<String>,
    /// Names of concurrency keys that an instance keeps to its end.
    pub held: Vec<String>,
    /// Whether the step bounds its wait.
    pub timed: Vec<bool>,
}

/// What a claim brought.
#[derive(Debug)]
pub struct Claimed {
    /// The rows.
    pub claims: Vec<Claim>,
    /// Due rows that were looked at: as many as asked for means that there may be more behind them.
    pub looked: usize,
    /// A plain claim met rows under limits, or many that wait for busy keys: a claim under limits has work.
    pub limited: bool,
    /// A plain claim that looked met many rows that this worker does not know.
    pub strangers: bool,
    /// Queues whose rows a key set free that was found free after all.
    pub wakes: BTreeSet<String>,
    /// The database's time.
    pub now: Timestamp,
    /// When the next row of the queue is due; known when none came.
    pub next_due: Option<Timestamp>,
    /// When the next wait of any queue ends; known when none came.
    pub next_deadline: Option<Timestamp>,
}

/// What became of a batch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Commits {
    /// An answer for each transition, in order.
    pub answers: Vec<Committed>,
    /// The queues in which others have work now: parents, children, spawned instances, targets of signals.
    pub wakes: BTreeSet<String>,
    /// Concurrency keys that became free, and how often: rows may have been set aside for them.
    pub released: Vec<(String, u32)>,
}

impl std::ops::Deref for Commits {
    type Target = [Committed];
    fn deref(&self) -> &[Committed] {
        &self.answers
    }
}

impl<const N: usize> PartialEq<[Committed; N]> for Commits {
    fn eq(&self, other: &[Committed; N]) -> bool {
        self.answers == other
    }
}

/// A limit, as its type or an operator says it.
#[derive(Debug, Clone, PartialEq)]
pub struct LimitDef {
    /// A gate, or a rate limit.
    pub kind: LimitKind,
    /// Stored name.
    pub name: String,
    /// What it allows.
    pub config: LimitConfig,
}

/// What a sweep did.
#[derive(Debug, Default)]
pub struct Swept {
    /// Rows changed.
    pub rows: usize,
    /// The queues they stand in, each once.
    pub queues: Vec<String>,
    /// How long it is until the next one, where that is known.
    pub next: Option<Duration>,
    /// Whether there is any schedule; known to the end of waits.
    pub schedules: bool,
}

/// The leases that a renewal did not extend.
#[derive(Debug, Default)]
pub struct Renewed {
    /// Someone else holds the row's lock; the claim still stands.
    pub busy: Vec<(InstanceId, ClaimToken)>,
    /// The claim is lost.
    pub lost: Vec<(InstanceId, ClaimToken)>,
    /// Renewed, and cancelled meanwhile.
    pub cancelled: Vec<InstanceId>,
}
