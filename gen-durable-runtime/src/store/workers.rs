//! Who is alive, and what they know.

use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

use super::{Known, Pending};
use crate::model::{InstanceId, Surroundings};

/// Which workers live, what they know, and rows that none of them does.
pub trait WorkerStore: Send + Sync {
    /// How often a worker says that it lives; one that did not for three times as long counts no more.
    fn seen_every(&self) -> Duration;

    /// Says that a worker has started, and what it knows.
    fn put_worker<'a>(&'a self, worker: &'a WorkerEntry) -> Pending<'a, ()>;

    /// Says that it lives; `false` when it was forgotten.
    fn see_worker<'a>(&'a self, name: &'a str) -> Pending<'a, bool>;

    /// It has stopped.
    fn remove_worker<'a>(&'a self, name: &'a str) -> Pending<'a, ()>;

    /// Those that live, by name.
    fn workers(&self) -> Pending<'_, Vec<LiveWorker>>;

    /// Of the first `limit` rows that are due in a queue, those whose machine, version and step no live worker knows, this one
    /// included.
    fn strangers<'a>(&'a self, queue: &'a str, known: &'a Known, limit: u32) -> Pending<'a, Vec<Stranger>>;

    /// Sets them aside, those that still are due and not held by anybody. How many.
    fn set_strangers_aside<'a>(&'a self, strangers: &'a [Stranger]) -> Pending<'a, usize>;

    /// Wakes up to `limit` rows that were set aside for these causes; answers with the queue of each.
    fn unblock_codes<'a>(&'a self, causes: &'a [String], limit: u32) -> Pending<'a, Vec<String>>;

    /// What keeps an instance from running, beside its own row; `None` when there is none.
    fn surroundings(&self, id: InstanceId) -> Pending<'_, Option<Surroundings>>;
}

/// A due row of unknown code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stranger {
    /// The instance.
    pub id: InstanceId,
    /// `machine:version:step`.
    pub code: String,
}

/// A worker that was not seen so many times when it should have been counts no more.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(super) const MISSED: u32 = 3;
/// So many rows at the head of a queue that wait for busy keys, or are of unknown code, are set aside; fewer hide nothing.
#[cfg(any(feature = "postgres", feature = "sqlite", feature = "worker"))]
pub(crate) const CROWD: u32 = 50;
/// What rows of unknown code are set aside for begins so.
#[cfg(feature = "worker")]
pub(crate) const CODE: &str = "code:";

/// A worker, as it says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerEntry {
    /// Its name: that of its claims.
    pub name: String,
    /// The queues it serves.
    pub queues: Vec<String>,
    /// What it knows: `machine:version:step`, names have no colon.
    pub codes: Vec<String>,
}

/// A worker that said not long ago that it lives: within 90 s, on SQLite within half an hour.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LiveWorker {
    /// Its name: that of its claims.
    pub name: String,
    /// The queues it serves.
    pub queues: Vec<String>,
    /// How many machines it knows, each version for itself.
    pub machines: usize,
    /// When it started.
    pub started_at: Timestamp,
    /// When it last said so: each 30 s, on SQLite each 10 minutes.
    pub seen_at: Timestamp,
}

/// What a worker knows, as it is stored.
#[cfg(feature = "worker")]
pub(crate) fn codes(known: &Known) -> Vec<String> {
    let steps = known.machines.iter().zip(&known.versions).zip(&known.steps);
    steps.map(|((machine, version), step)| format!("{machine}:{version}:{step}")).collect()
}

/// How many machines such codes are of.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(super) fn machines_of(codes: &[String]) -> usize {
    let machines = codes.iter().filter_map(|code| code.rsplit_once(':').map(|(machine, _)| machine));
    machines.collect::<std::collections::BTreeSet<_>>().len()
}
