//! What an operator sees of limits and queues, in no dialect.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::LimitDef;
use crate::model::admission::LimitKind;

/// Rows that are counted for one limit, key, or priority of a queue; where there are more, that is said.
pub(super) const COUNTED: i64 = 10_000;
/// Counters that are looked at for the busiest keys.
pub(super) const COUNTERS: i64 = 100_000;
/// Of the newest instances so many are looked at for parked ones; of those that were set aside as many.
pub(super) const WALKED: i64 = 50_000;

/// A limit as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredLimit {
    /// Its kind, its name, and what it allows.
    pub def: LimitDef,
    /// An operator said so; no boot changes it.
    pub by_operator: bool,
    /// Rows that wait for it, counted up to 10,000.
    pub waiting: u64,
    /// The keys of which most is taken, the busiest first.
    pub keys: Vec<KeyUse>,
}

/// How much of one key is taken.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyUse {
    /// `name:part:part`, the stored key.
    pub key: String,
    /// Slots that are held, or tokens that are gone, after the refill.
    pub used: f64,
    /// Tokens that come back before any may be taken; slots above a limit that was made smaller.
    pub owed: f64,
    /// Rows that wait for this key, counted up to 10,000.
    pub waiting: u64,
}

/// Adds the busiest keys to their limits.
pub(super) fn with_keys(mut limits: Vec<StoredLimit>, keys: Vec<((LimitKind, String), KeyUse)>) -> Vec<StoredLimit> {
    for ((kind, name), key) in keys {
        let limit = limits.iter_mut().find(|limit| limit.def.kind == kind && limit.def.name == name);
        limit.into_iter().for_each(|limit| limit.keys.push(key.clone()));
    }
    limits
}

/// How the instances of a queue stand.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QueueStanding {
    /// Due now, counted up to 10,000 a priority.
    pub due: u64,
    /// Since when the oldest of them is due.
    pub oldest: Option<Timestamp>,
    /// Executing.
    pub running: u64,
    /// Waiting for signals or children, as far as they are among the newest 50,000 instances.
    pub parked: u64,
    /// Due, and waiting for a limit or a key, counted up to 50,000 of all queues.
    pub limited: u64,
    /// Due, and waiting for something else: for a worker that knows their code.
    pub otherwise_blocked: u64,
    /// Due later, counted up to 10,000 a priority.
    pub later: u64,
    /// Since when it is paused.
    pub paused: Option<Timestamp>,
    /// Some counts have come to their end: there may be more.
    pub more: bool,
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
