//! What became of a cancel, a retry and a signal.

use crate::model::InstanceId;

/// What became of a cancel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cancelling {
    /// Asked for: whoever serves this queue ends it, or its run is told.
    Asked {
        /// The instance.
        id: InstanceId,
        /// Where it stands.
        queue: String,
        /// It is running.
        executing: bool,
    },
    /// The instance has ended, or never was.
    NoTarget,
}

/// What became of a retry of a failed instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Retrying {
    /// It goes on.
    Goes {
        /// The instance.
        id: InstanceId,
        /// Where it stands.
        queue: String,
    },
    /// Its business key has a newer occupant.
    Duplicate(InstanceId),
    /// It has not failed, or never was.
    NoTarget,
}

/// The children that were told of a cancel.
#[derive(Debug, Default)]
pub struct ToldChildren {
    /// How many.
    pub rows: usize,
    /// Others were held by someone else: ask again.
    pub missed: bool,
    /// Where they stand.
    pub queues: Vec<String>,
    /// Those that are running.
    pub executing: Vec<InstanceId>,
}

/// What became of a signal, and whom it woke.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// What became of it.
    pub delivered: Delivered,
    /// The queue of the instance it woke.
    pub wake: Option<String>,
}

/// What became of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivered {
    /// In the inbox of this instance.
    New(InstanceId),
    /// This instance had a signal with that dedup key before: not delivered again.
    Duplicate(InstanceId),
    /// The instance has ended, or never was: nothing was kept.
    NoTarget,
}
