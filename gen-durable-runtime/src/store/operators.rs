//! What an operator sees of limits and queues, in no dialect.

use jiff::Timestamp;

use super::LimitDef;

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
