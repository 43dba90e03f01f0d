//! How what an operator asks for is put together, for both dialects.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{KeyUse, QueueStanding, StoredLimit};
use crate::model::admission::LimitKind;

/// Rows that are counted for one limit, key, or priority of a queue; where there are more, that is said.
pub(super) const COUNTED: i64 = 10_000;
/// Counters that are looked at for the busiest keys.
pub(super) const COUNTERS: i64 = 100_000;
/// Of the newest instances so many are looked at for parked ones; of those that were set aside as many.
pub(super) const WALKED: i64 = 50_000;

/// Adds the busiest keys to their limits.
pub(super) fn with_keys(mut limits: Vec<StoredLimit>, keys: Vec<((LimitKind, String), KeyUse)>) -> Vec<StoredLimit> {
    for ((kind, name), key) in keys {
        let limit = limits.iter_mut().find(|limit| limit.def.kind == kind && limit.def.name == name);
        limit.into_iter().for_each(|limit| limit.keys.push(key.clone()));
    }
    limits
}

/// One line of queues_shown.sql.
pub(super) struct QueueLine {
    pub(super) what: String,
    pub(super) queue: String,
    pub(super) n: i64,
    pub(super) at: Option<Timestamp>,
    pub(super) more: bool,
}

/// The lines of all queues, put together.
pub(super) fn standings(lines: Vec<QueueLine>) -> BTreeMap<String, QueueStanding> {
    let mut all: BTreeMap<String, QueueStanding> = BTreeMap::new();
    for QueueLine { what, queue, n, at, more } in lines {
        let standing = all.entry(queue).or_default();
        let n = u64::try_from(n).unwrap_or(0);
        match what.as_str() {
            "due" => (standing.due, standing.oldest) = (n, at),
            "later" => standing.later = n,
            "running" => standing.running = n,
            "parked" => standing.parked = n,
            "limited" => standing.limited = n,
            "blocked" => standing.otherwise_blocked = n,
            _ => standing.paused = at,
        }
        standing.more |= more;
    }
    all
}
