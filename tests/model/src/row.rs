//! What can be seen of an instance: the same for the model and for a store.

use gen_durable_runtime::model::{HistoryEntry, InstanceId, Json, Snapshot, Status};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

/// An hour in the model's microseconds.
pub const HOUR: i64 = 3_600_000_000;
/// Moments that differ by less are the same: far more than a history takes, far less than any delay.
const MINUTES: i64 = 600_000_000;

/// A moment or a span, in microseconds, as far as it can be compared across clocks.
#[derive(Debug, Clone, Copy)]
pub struct About(pub i64);

impl PartialEq for About {
    fn eq(&self, other: &Self) -> bool {
        self.0.abs_diff(other.0) < MINUTES.unsigned_abs()
    }
}

/// An instance with everything that stands on it.
#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    /// What `show` tells.
    pub shown: Shown,
    /// What only the database knows.
    pub hidden: Hidden,
}

/// What `show` tells, without moments.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    pub machine: String,
    pub version: i32,
    pub step: String,
    pub status: Status,
    pub state: Value,
    pub carry: Option<Value>,
    pub result: Option<Value>,
    pub error: Option<String>,
    /// Empty when it waits for nothing.
    pub awaits: Vec<String>,
    pub key: Option<String>,
    pub key_kept: bool,
    pub queue: String,
    pub priority: i16,
    /// The queue and the priority given at its start.
    pub home: (Option<String>, Option<i16>),
    pub attempt: u32,
    pub crashes: u32,
    pub transitions: i64,
    pub token: Option<String>,
}

/// What only the database knows.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Hidden {
    pub errors: u32,
    /// The signals that ended the wait of this visit, once that is settled.
    pub received: Option<Vec<i64>>,
    pub home_queue: Option<String>,
    pub home_priority: Option<i16>,
    pub concurrency_key: Option<String>,
    /// The statuses in which its business key is occupied.
    pub scope: Vec<Status>,
    /// Of a child: whose, its parent's transitions while that waits, and its place in the fan-out.
    pub parent: Option<InstanceId>,
    pub round: Option<i64>,
    pub place: Option<i64>,
    /// Of a child: its parent has counted its end.
    pub counted: bool,
    /// Of a parent: the children of its last round that it waits for, and how many ended with a result.
    pub pending: i64,
    pub ended_well: i64,
}

/// When things happen to it, in microseconds of the model's epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moments {
    pub eligible: i64,
    pub deadline: Option<i64>,
    pub lease: Option<i64>,
    pub updated: i64,
    pub inserted: i64,
}

/// A signal in an inbox.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Letter {
    pub id: i64,
    pub target: InstanceId,
    pub name: String,
    pub payload: Value,
    pub dedup: Option<String>,
    pub consumed: bool,
}

/// A line of history.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Line {
    pub instance: InstanceId,
    pub visit: i64,
    pub from: String,
    pub to: Option<String>,
    pub outcome: String,
    pub attempt: u32,
    pub worker: Option<String>,
    /// In microseconds, as it was given.
    pub started: i64,
    pub error: Option<String>,
}

impl Line {
    pub fn of(instance: InstanceId, h: &HistoryEntry) -> Self {
        Self {
            instance,
            visit: h.visit,
            from: h.from.clone(),
            to: h.to.clone(),
            outcome: h.outcome.clone(),
            attempt: h.attempt,
            worker: h.worker.clone(),
            started: h.started_at.as_microsecond(),
            error: h.error.clone(),
        }
    }
}

impl From<&Snapshot> for Shown {
    fn from(s: &Snapshot) -> Self {
        let json = |raw: &serde_json::value::RawValue| serde_json::from_str(raw.get()).expect("stored JSON");
        Self {
            machine: s.machine.clone(),
            version: s.version,
            step: s.step.clone(),
            status: s.status,
            state: json(&s.state),
            carry: s.carry.as_deref().map(json),
            result: s.result.as_deref().map(json),
            error: s.last_error.clone(),
            awaits: s.awaits.clone(),
            key: s.key.clone(),
            key_kept: s.key_kept,
            queue: s.queue.clone(),
            priority: s.priority,
            home: (s.home_queue.clone(), s.home_priority),
            attempt: s.attempt,
            crashes: s.crashes,
            transitions: s.transitions,
            token: s.worker.clone(),
        }
    }
}

impl Moments {
    /// Whether a store's moments are these: to the microsecond where they are as they were before.
    pub fn agrees(&self, before: Option<&Self>, store: &Self) -> bool {
        let each = |field: fn(&Self) -> Option<i64>| match (field(self), field(store)) {
            (ours, theirs) if before.is_some_and(|b| field(b) == ours) => ours == theirs,
            (ours, theirs) => ours.map(About) == theirs.map(About),
        };
        let fields: [fn(&Self) -> Option<i64>; 5] =
            [|m| Some(m.eligible), |m| m.deadline, |m| m.lease, |m| Some(m.updated), |m| Some(m.inserted)];
        fields.into_iter().all(each)
    }

    pub fn of(s: &Snapshot, epoch: Timestamp) -> Self {
        let since = |at: Timestamp| at.as_microsecond() - epoch.as_microsecond();
        Self {
            eligible: since(s.eligible_at),
            deadline: s.await_deadline.map(since),
            lease: s.lease_expires_at.map(since),
            updated: since(s.updated_at),
            inserted: since(s.inserted_at),
        }
    }
}

/// JSON is compared by its value: what a store does to its text is its own affair.
pub fn value(json: &Json) -> Value {
    serde_json::from_str(json.as_str()).expect("JSON")
}
