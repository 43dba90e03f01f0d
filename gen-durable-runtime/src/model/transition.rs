use std::time::Duration;

use jiff::Timestamp;

use super::{Claim, ClaimToken, Effects, Entry, Exits, InstanceId, Json, Parent};

/// One row's change, ready to be persisted. Nothing is decided after this.
#[derive(Debug, Clone)]
pub struct Transition {
    /// The instance.
    pub id: InstanceId,
    /// The fence: the claim that must still stand on the row,
    pub token: ClaimToken,
    /// and the transitions it must still have.
    pub transitions: i64,
    /// The attempt that ended, by which a retry that landed is told from one that did not.
    pub attempt: u32,
    /// What changes.
    pub change: Change,
    /// The signals this visit received: consumed with every change that leaves the visit.
    pub consumed: Vec<i64>,
    /// The machine awaits signals: when it is done its inbox is emptied.
    pub may_have_signals: bool,
    /// Who waits for its end.
    pub parent: Option<Parent>,
    /// What else happens with it.
    pub effects: Option<Box<Effects>>,
    /// When the run began; `None` leaves no line in the history.
    pub started: Option<Timestamp>,
    /// It is what a cancel asks for. Any other outcome than an end is dropped once a cancel was asked for.
    pub cancels: bool,
    /// The concurrency key that the run held, its slot, and whether that is kept to the end of the instance.
    pub held: Option<HeldKey>,
    /// Its machine has keys that are kept to the end.
    pub may_hold: bool,
    /// It is what the deadline leads to, which passes once.
    pub expires: bool,
    /// What leaves the step at which the row stands from now on.
    pub exits: Exits,
}

/// A concurrency key that a run held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldKey {
    /// As it is stored.
    pub key: String,
    /// The slot of its gate, if it has one.
    pub slot: Option<i16>,
    /// The instance keeps it to its end.
    pub kept: bool,
}

impl HeldKey {
    fn of(claim: &Claim) -> Option<Self> {
        let key = claim.concurrency_key.clone()?;
        Some(Self { key, slot: claim.slot, kept: claim.holds })
    }
}

/// What changes on the row.
#[derive(Debug, Clone)]
pub enum Change {
    /// On to a step.
    Advance(Box<Advance>),
    /// The same visit once more, later.
    Retry {
        /// From the commit on.
        after: Duration,
        /// Kept on the row.
        error: Option<String>,
    },
    /// Ended with a result.
    Done {
        /// The machine's output.
        result: Json,
        /// New carry, if the machine has one.
        carry: Option<Json>,
    },
    /// Ended as failed.
    Fail {
        /// Kept on the row.
        reason: String,
        /// New carry, if the machine has one.
        carry: Option<Json>,
    },
    /// Parked again: the wait was not over.
    Repark,
    /// The claim given back; the run does not count.
    Release,
}

/// Everything `goto` writes.
#[derive(Debug, Clone, PartialEq)]
pub struct Advance {
    /// The version of the machine that wrote the entry.
    pub version: i32,
    /// The step entered.
    pub entry: Entry,
    /// Runnable this much later.
    pub delay: Duration,
    /// New carry, if the machine has one.
    pub carry: Option<Json>,
    /// The queue it stands in.
    pub queue: String,
    /// Its urgency.
    pub priority: i16,
    /// Why it is here, when a `catch` brought it.
    pub error: Option<String>,
    /// Keep the claim and go on in this worker.
    pub in_place: bool,
}

/// What became of one transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Committed {
    /// It is durable.
    Done,
    /// It is durable; the claim was kept, as asked.
    Kept,
    /// It is durable and the instance is parked.
    Parked,
    /// It is durable, and the row is due at once: what leaves its step has come already.
    Leaves,
    /// The claim was lost: nothing was changed, nowhere.
    ClaimLost,
    /// Someone else holds the row's lock: nothing was changed, try it again.
    Busy,
    /// The instance was cancelled meanwhile: the outcome was dropped, the claim still stands.
    Cancelled,
}

impl Transition {
    /// The size of its texts, about.
    pub fn bytes(&self) -> usize {
        let of = |json: &Option<Json>| json.as_ref().map_or(0, |j| j.as_str().len());
        let effects = self.effects.as_ref().map_or(0, |e| e.bytes());
        let change = match &self.change {
            Change::Advance(a) => a.entry.state.as_str().len() + of(&a.carry),
            Change::Done { result, carry } => result.as_str().len() + of(carry),
            Change::Fail { reason, carry } => reason.len() + of(carry),
            Change::Retry { error, .. } => error.as_ref().map_or(0, String::len),
            Change::Repark | Change::Release => 0,
        };
        effects + change
    }

    /// Whether it ends the instance, which may wake a parent.
    pub fn ends(&self) -> bool {
        match &self.change {
            Change::Done { .. } | Change::Fail { .. } => true,
            Change::Advance(_) | Change::Retry { .. } | Change::Repark | Change::Release => false,
        }
    }

    /// Fenced by `claim`.
    pub fn of(claim: &Claim, change: Change, consumed: Vec<i64>) -> Self {
        let Claim { id, transitions, attempt, parent, .. } = *claim;
        let token = claim.token.clone();
        Self {
            id,
            token,
            transitions,
            attempt,
            change,
            consumed,
            may_have_signals: false,
            parent,
            effects: None,
            started: None,
            cancels: false,
            held: HeldKey::of(claim),
            may_hold: false,
            expires: false,
            exits: Exits::default(),
        }
    }
}
