use serde::Serialize;

use super::{InstanceId, Status};

/// A child of an instance as it stands at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Child {
    /// The child.
    pub id: InstanceId,
    /// Stored machine name.
    pub machine: String,
    /// Where it stands.
    pub status: Status,
    /// The fan-out it is of: its parent's transitions while that waits. `None` for a child that another engine started.
    pub round: Option<i64>,
    /// Its place in the fan-out, from 0: of all children that were given, whatever their machine.
    pub index: Option<u32>,
}

#[cfg(any(feature = "postgres", feature = "sqlite"))]
impl Child {
    /// For the stores.
    pub(crate) fn new(id: InstanceId, machine: String, status: Status, round: Option<i64>, index: Option<i64>) -> Self {
        Self { id, machine, status, round, index: index.and_then(|at| u32::try_from(at).ok()) }
    }
}
