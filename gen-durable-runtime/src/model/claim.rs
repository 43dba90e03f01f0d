use super::{ClaimToken, InstanceId, Json};

/// An instance that this worker may run, until its lease ends.
#[derive(Debug, Clone)]
pub struct Claim {
    /// The instance.
    pub id: InstanceId,
    /// The right to commit.
    pub token: ClaimToken,
    /// Stored machine name.
    pub machine: String,
    /// Stored machine version.
    pub version: i32,
    /// Stored step name.
    pub step: String,
    /// Step data.
    pub state: Json,
    /// Facts all steps share.
    pub carry: Option<Json>,
    /// Runs of this visit so far that ended without leaving it; 0 on its first run.
    pub attempt: u32,
    /// How many of these were errors: what `retry(attempts)` bounds.
    pub errors: u32,
    /// Deaths of the process in this visit so far.
    pub crashes: u32,
    /// Transitions so far; with the id it names this visit.
    pub transitions: i64,
    /// Where the row stands now.
    pub queue: String,
    /// Its urgency now; lower is more urgent.
    pub priority: i16,
    /// The queue given at start, if one was.
    pub home_queue: Option<String>,
    /// The priority given at start, if one was.
    pub home_priority: Option<i16>,
    /// The concurrency key this claim holds.
    pub concurrency_key: Option<String>,
    /// The slot of its gate, where that key has one,
    pub slot: Option<i16>,
    /// which the instance keeps to its end.
    pub holds: bool,
    /// Who waits for its end.
    pub parent: Option<Parent>,
    /// It was cancelled, and its step does not shield it.
    pub cancelled: bool,
    /// Its deadline passed, and its step may be left for that.
    pub expired: bool,
    /// The oldest signal that leaves its step.
    pub exit: Option<ReceivedSignal>,
    /// Of a cancelled one only: it has children, of whatever round.
    pub has_children: bool,
    /// What ended its wait.
    pub wake: Wake,
}

/// The instance whose fan-out started a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parent {
    /// The parent.
    pub id: InstanceId,
    /// Its transitions while it waits: a child of one round never counts for another. `None` for a child that
    /// another engine started.
    pub round: Option<i64>,
}

/// Why a claimed instance is awake.
#[derive(Debug, Clone, PartialEq)]
pub enum Wake {
    /// It waited for nothing.
    Ready,
    /// These signals ended its wait: the same on every run of this visit. Empty: it timed out.
    Signals(Vec<ReceivedSignal>),
    /// It still waits (woken by a delayed start or another engine): park it again, run nothing.
    Unsatisfied,
}

/// A signal that ended a wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedSignal {
    /// Its row.
    pub id: i64,
    /// Stored name.
    pub name: String,
    /// Its payload, a JSON object.
    pub payload: Json,
}
