use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::InstanceId;

/// Where an instance stands. The six statuses of the seed's schema, under their stored names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Due now, or later.
    Runnable,
    /// Claimed by a worker.
    Executing,
    /// Parked until a signal comes.
    AwaitingSignal,
    /// Parked until its children ended.
    AwaitingChildren,
    /// Ended with its result.
    Done,
    /// Ended as failed, with a reason.
    Failed,
}

impl Status {
    /// All of them, in the schema's order.
    pub const ALL: [Self; 6] =
        [Self::Runnable, Self::Executing, Self::AwaitingSignal, Self::AwaitingChildren, Self::Done, Self::Failed];

    /// The stored name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Runnable => "runnable",
            Self::Executing => "executing",
            Self::AwaitingSignal => "awaiting_signal",
            Self::AwaitingChildren => "awaiting_children",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }

    /// The status with this stored name.
    pub fn from_stored(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.as_str() == text)
    }

    /// Whether the instance has ended.
    pub fn is_ended(self) -> bool {
        match self {
            Self::Done | Self::Failed => true,
            Self::Runnable | Self::Executing | Self::AwaitingSignal | Self::AwaitingChildren => false,
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// An instance as it stands in the database at one moment.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Snapshot {
    /// The instance.
    pub id: InstanceId,
    /// Stored machine name.
    pub machine: String,
    /// Machine version.
    pub version: i32,
    /// Stored step name.
    pub step: String,
    /// Where it stands.
    pub status: Status,
    /// Step data.
    pub state: Box<serde_json::value::RawValue>,
    /// Facts all steps share.
    pub carry: Option<Box<serde_json::value::RawValue>>,
    /// The output, once done.
    pub result: Option<Box<serde_json::value::RawValue>>,
    /// The last error, or why it failed.
    pub last_error: Option<String>,
    /// It was cancelled: with status `failed` it ended so; else it still stands at a shielded step, or has gone to its
    /// `on_cancel`.
    pub cancelled: bool,
    /// Names of the signals it waits for.
    pub awaits: Vec<String>,
    /// When its wait ends without them.
    pub await_deadline: Option<Timestamp>,
    /// When the machine's `deadline` leads it to its `on_deadline`, if that is still to come.
    pub deadline: Option<Timestamp>,
    /// Business key, `machine:value`.
    pub key: Option<String>,
    /// The key stays occupied after its end.
    pub key_kept: bool,
    /// Queue.
    pub queue: String,
    /// Urgency; lower is more urgent.
    pub priority: i16,
    /// The queue given at its start, instead of its machine's.
    pub home_queue: Option<String>,
    /// The priority given at its start, instead of its machine's.
    pub home_priority: Option<i16>,
    /// Errors of this visit.
    pub attempt: u32,
    /// Deaths of the process in this visit.
    pub crashes: u32,
    /// Transitions so far.
    pub transitions: i64,
    /// What it waits for though it is due: `key:` and a concurrency key, `rate:` and a rate limit's key, or `limit:` and the name
    /// of one that nobody knows.
    pub blocked_by: Option<String>,
    /// When it was due, if it waits so.
    pub due_at: Option<Timestamp>,
    /// When it is due; of one that waits for a token, when that is there.
    pub eligible_at: Timestamp,
    /// The worker that holds or last held it.
    pub worker: Option<String>,
    /// When its claim ends.
    pub lease_expires_at: Option<Timestamp>,
    /// When it was started.
    pub inserted_at: Timestamp,
    /// When it was last written (not on each step in place).
    pub updated_at: Timestamp,
}
