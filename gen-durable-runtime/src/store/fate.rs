//! What became of a transition: by the status its row has now, or by how a row stands that was not written.

use crate::model::{Change, Committed, Transition};

/// How a row stands that a statement did not write.
#[derive(Debug)]
pub(super) struct Stand {
    pub(super) token: Option<String>,
    pub(super) transitions: i64,
    pub(super) attempt: u32,
    pub(super) executing: bool,
    pub(super) failed: bool,
    /// It was cancelled, and its step does not shield it.
    pub(super) cancelled: bool,
}

/// The answer for a row that was written, and has this status now.
pub(super) fn written(status: &str) -> Committed {
    match status {
        "executing" => Committed::Kept,
        "leaves" => Committed::Leaves,
        "awaiting_signal" | "awaiting_children" => Committed::Parked,
        _ => Committed::Done,
    }
}

/// Whether a row that was written has ended.
pub(super) fn has_ended(status: &str) -> bool {
    matches!(status, "done" | "failed")
}

impl Stand {
    /// Our token with one transition more: an earlier attempt landed, its answer was lost.
    pub(super) fn answer(&self, t: &Transition) -> Committed {
        let ours = self.token.as_deref() == Some(t.token.as_str());
        let moved = self.transitions == t.transitions + 1;
        match (&t.change, ours, moved, self.executing) {
            (Change::Advance(a), true, true, true) if a.in_place => Committed::Kept,
            (_, true, true, _) => Committed::Done,
            (Change::Fail { .. }, true, false, false) if self.failed => Committed::Done,
            (Change::Retry { .. }, true, false, false) if self.attempt == t.attempt + 1 => Committed::Done,
            // Given back, or taken back: either way it stands as asked.
            (Change::Release | Change::Repark, true, false, false) => Committed::Done,
            (_, true, false, true) if self.cancelled && !t.cancels && !t.ends() => Committed::Cancelled,
            (_, true, false, true) => Committed::Busy,
            _ => Committed::ClaimLost,
        }
    }
}
