use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

/// The identity of an instance: its row's primary key.
///
/// ```
/// # use gen_durable_runtime::model::InstanceId;
/// let id = InstanceId::new(7);
/// assert_eq!(id.to_string(), "7");
/// assert_eq!("7".parse(), Ok(id));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InstanceId(i64);

impl InstanceId {
    /// Wraps a stored primary key.
    pub const fn new(id: i64) -> Self {
        Self(id)
    }

    /// The stored primary key.
    pub const fn get(self) -> i64 {
        self.0
    }
}

impl fmt::Display for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::str::FromStr for InstanceId {
    type Err = std::num::ParseIntError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

/// Names one claim: the worker process and a number it never uses again.
///
/// Two claims by one process differ, so that an outcome of a claim that was lost and taken again by the same
/// process cannot pass the fence.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ClaimToken(Arc<str>);

impl ClaimToken {
    /// Wraps a stored token (`locked_by`).
    pub fn new(token: impl Into<Arc<str>>) -> Self {
        Self(token.into())
    }

    /// The stored text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
