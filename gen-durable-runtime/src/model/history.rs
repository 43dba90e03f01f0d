use jiff::Timestamp;
use serde::Serialize;

/// One line of an instance's history: what a run came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct HistoryEntry {
    /// The line's number, above that of every older line of its instance: a page begins after one.
    pub id: i64,
    /// Transitions before it: all runs of one visit have the same number.
    pub visit: i64,
    /// The step that ran.
    pub from: String,
    /// The step it went to; `None` when it stayed or ended.
    pub to: Option<String>,
    /// `goto`, `wait`, `fan_out`, `retry`, `done` or `failed`.
    pub outcome: String,
    /// Runs of this visit before it.
    pub attempt: u32,
    /// Who ran it.
    pub worker: Option<String>,
    /// When the run began, by the database's clock.
    pub started_at: Timestamp,
    /// When its outcome was durable.
    pub committed_at: Timestamp,
    /// The error of a retry or a failure, or why a `catch` was entered.
    pub error: Option<String>,
}

#[cfg(any(feature = "postgres", feature = "sqlite"))]
impl HistoryEntry {
    /// For the stores.
    #[expect(clippy::too_many_arguments, reason = "a row as it is read; nobody else makes one")]
    pub(crate) fn new(
        id: i64,
        visit: i64,
        from: String,
        to: Option<String>,
        outcome: String,
        attempt: u32,
        worker: Option<String>,
        [started_at, committed_at]: [Timestamp; 2],
        error: Option<String>,
    ) -> Self {
        Self { id, visit, from, to, outcome, attempt, worker, started_at, committed_at, error }
    }
}
