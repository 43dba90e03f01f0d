//! What is read of instances: pages, and how they stand.

use crate::model::{Child, InstanceId, Status};

/// Which children to read.
#[derive(Debug)]
pub struct ChildPage<'a> {
    /// Whose.
    pub parent: InstanceId,
    /// Its transitions while it waited.
    pub round: i64,
    /// Stored machine names.
    pub machines: &'a [&'static str],
    /// Only places above this one; -1 begins.
    pub after: i64,
    /// Rows a page.
    pub limit: u32,
}

/// Which children of an instance to read, however they stand.
#[derive(Debug)]
pub struct KinPage<'a> {
    /// Whose.
    pub parent: InstanceId,
    /// Of every round, not only of the last.
    pub all_rounds: bool,
    /// Only those that come after this one.
    pub after: Option<&'a Child>,
    /// Rows a page.
    pub limit: u32,
}

impl KinPage<'_> {
    /// Round, place and id of the one before the page, as the statements take them.
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    pub(super) fn begins_after(&self) -> [i64; 3] {
        let place = |child: &Child| [child.round.unwrap_or(-1), child.index.map_or(-1, i64::from), child.id.get()];
        self.after.map_or([i64::MIN; 3], place)
    }
}

/// How an instance stands that someone waits for.
#[derive(Debug, Clone)]
pub struct Standing {
    /// The instance.
    pub id: InstanceId,
    /// Stored machine name.
    pub machine: String,
    /// Where it stands.
    pub status: Status,
    /// Stored step name.
    pub step: String,
    /// Its output, once done.
    pub result: Option<crate::model::Json>,
    /// Why it failed.
    pub error: Option<String>,
}

/// A caller's own transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallerTransaction {
    /// Not decided yet.
    Open,
    /// Its rows are there.
    Committed,
    /// Its rows never were.
    RolledBack,
}

/// Which instances to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Filter {
    /// Stored machine name.
    pub machine: Option<String>,
    /// Status.
    pub status: Option<Status>,
    /// Queue.
    pub queue: Option<String>,
    /// Stored step name.
    pub step: Option<String>,
    /// Only ids below this one: the last id of the page before.
    pub before: Option<InstanceId>,
    /// Rows a page; 100 when 0.
    pub limit: u32,
}

impl Filter {
    /// Only this machine.
    #[must_use]
    pub fn machine(self, name: impl Into<String>) -> Self {
        Self { machine: Some(name.into()), ..self }
    }

    /// Only this status.
    #[must_use]
    pub fn status(self, status: Status) -> Self {
        Self { status: Some(status), ..self }
    }

    /// Only this queue.
    #[must_use]
    pub fn queue(self, name: impl Into<String>) -> Self {
        Self { queue: Some(name.into()), ..self }
    }

    /// Only this step.
    #[must_use]
    pub fn step(self, name: impl Into<String>) -> Self {
        Self { step: Some(name.into()), ..self }
    }

    /// The page below this id.
    #[must_use]
    pub fn before(self, id: InstanceId) -> Self {
        Self { before: Some(id), ..self }
    }

    /// Rows a page.
    #[must_use]
    pub fn limit(self, rows: u32) -> Self {
        Self { limit: rows, ..self }
    }
}
