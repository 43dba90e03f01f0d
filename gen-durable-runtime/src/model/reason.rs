//! Why an instance is not running.

use std::fmt;

use jiff::Timestamp;
use serde::Serialize;

use super::{InstanceId, Snapshot, Status};

/// One reason why an instance is not running; there may be several at once.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// It is running: claimed by a worker, until its lease ends or is renewed.
    Running {
        /// The claim: the worker's name and a number.
        worker: Option<String>,
        /// When its lease ends.
        until: Option<Timestamp>,
    },
    /// It has ended.
    Ended,
    /// It is due later: a delay, or the backoff after an error.
    Later {
        /// When.
        at: Timestamp,
        /// After an error or a `retry_in`: how many attempts there were.
        after_attempts: u32,
    },
    /// Others run, or hold a slot, under its concurrency key.
    Key {
        /// The key, `name:value`.
        key: String,
        /// How many may at once; none where the key has no limit: one.
        limit: Option<f64>,
        /// Who does, ten at most.
        held_by: Vec<InstanceId>,
    },
    /// Its rate limit has no token for it.
    Token {
        /// The limit's key, `name:value`.
        limit: String,
        /// When its token is there.
        at: Timestamp,
    },
    /// It is under a rate limit that nobody has made known here: it came from elsewhere, or no worker with that type has started.
    UnknownLimit {
        /// The limit's name.
        name: String,
    },
    /// It waits for signals.
    Signals {
        /// Their names: one of them, unless its step says otherwise.
        names: Vec<String>,
        /// When it goes on without.
        until: Option<Timestamp>,
    },
    /// It is at a timer.
    Timer {
        /// When it goes on; unknown after its time was taken away by another engine.
        until: Option<Timestamp>,
    },
    /// It waits for its children.
    Children {
        /// Of so many,
        started: u64,
        /// these have not ended.
        pending: u64,
        /// When it goes on without.
        until: Option<Timestamp>,
    },
    /// Its queue is paused, in every process.
    QueuePaused {
        /// The queue.
        queue: String,
        /// Since when.
        since: Timestamp,
    },
    /// No live worker knows this machine, version and step.
    NoWorker {
        /// Stored machine name.
        machine: String,
        /// Machine version.
        version: i32,
        /// Stored step name.
        step: String,
    },
    /// Live workers know it, and none of them serves its queue.
    QueueUnserved {
        /// The queue.
        queue: String,
    },
    /// Nothing keeps it: it is due, behind what is more urgent or was due before.
    Due {
        /// Since when.
        since: Timestamp,
    },
}

/// What stands around an instance, read with it.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The database's time.
    pub now: Timestamp,
    /// Its concurrency key.
    pub key: Option<String>,
    /// How many may run under it at once, where it has a limit.
    pub key_limit: Option<f64>,
    /// Who else runs, or holds a slot, under it: the first of them.
    pub holders: Vec<InstanceId>,
    /// How many do.
    pub held: u64,
    /// Since when its queue is paused.
    pub paused: Option<Timestamp>,
    /// A live worker knows its machine, version and step.
    pub known: bool,
    /// One of those serves its queue.
    pub served: bool,
}

/// Every reason that holds; the most telling one first. Never empty. `children`: how many were started, and how many have not
/// ended.
pub fn reasons(s: &Snapshot, around: &Surroundings, children: (u64, u64)) -> Vec<Reason> {
    let until = s.await_deadline;
    match s.status {
        Status::Done | Status::Failed => vec![Reason::Ended],
        Status::Executing => vec![Reason::Running { worker: s.worker.clone(), until: s.lease_expires_at }],
        Status::AwaitingSignal if s.awaits.is_empty() => vec![Reason::Timer { until }],
        Status::AwaitingSignal => vec![Reason::Signals { names: s.awaits.clone(), until }],
        Status::AwaitingChildren => vec![Reason::Children { started: children.0, pending: children.1, until }],
        Status::Runnable => runnable(s, around),
    }
}

fn runnable(s: &Snapshot, around: &Surroundings) -> Vec<Reason> {
    let code = || Reason::NoWorker { machine: s.machine.clone(), version: s.version, step: s.step.clone() };
    let unserved = || Reason::QueueUnserved { queue: s.queue.clone() };
    let paused = around.paused.map(|since| Reason::QueuePaused { queue: s.queue.clone(), since });
    let worker = match (around.known, around.served) {
        (false, _) => Some(code()),
        (true, false) => Some(unserved()),
        (true, true) => None,
    };
    let all: Vec<Reason> = itself(s, around).into_iter().chain(paused).chain(worker).collect();
    if all.is_empty() { vec![Reason::Due { since: s.due_at.unwrap_or(s.eligible_at) }] } else { all }
}

/// What keeps the row, whoever is there to take it.
fn itself(s: &Snapshot, around: &Surroundings) -> Option<Reason> {
    match s.blocked_by.as_deref().and_then(|cause| cause.split_once(':')) {
        Some(("rate", limit)) if s.eligible_at > around.now => {
            Some(Reason::Token { limit: limit.to_owned(), at: s.eligible_at })
        }
        Some(("limit", name)) => Some(Reason::UnknownLimit { name: name.to_owned() }),
        Some(("key", key)) => Some(full(key, around)),
        // Of unknown code: that is said of every such row, set aside or not.
        Some(_) => None,
        None if s.eligible_at > around.now => Some(Reason::Later { at: s.eligible_at, after_attempts: s.attempt }),
        None => around.key.as_deref().filter(|_| is_full(around)).map(|key| full(key, around)),
    }
}

fn is_full(around: &Surroundings) -> bool {
    around.held as f64 >= around.key_limit.unwrap_or(1.0)
}

fn full(key: &str, around: &Surroundings) -> Reason {
    Reason::Key { key: key.to_owned(), limit: around.key_limit, held_by: around.holders.clone() }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Running { worker, until } => {
                write!(f, "claimed by {}{}", worker.as_deref().unwrap_or("a worker"), Until(*until))
            }
            Self::Ended => f.write_str("it has ended"),
            Self::Later { at, after_attempts: 0 } => write!(f, "due at {at}"),
            Self::Later { at, after_attempts } => write!(f, "tried again at {at}, after {after_attempts} attempts"),
            Self::Key { key, limit: None, held_by } => write!(f, "waits for key {key}{}", HeldBy(held_by)),
            Self::Key { key, limit: Some(limit), held_by } => {
                write!(f, "waits for one of {limit} slots of {key}{}", HeldBy(held_by))
            }
            Self::Token { limit, at } => write!(f, "waits for limit {limit}: its token is there at {at}"),
            Self::UnknownLimit { name } => write!(f, "waits for limit {name}, which nobody has made known"),
            Self::Signals { names, until } => write!(f, "waits for {}{}", names.join(" or "), Until(*until)),
            Self::Timer { until } => write!(f, "waits{}", Until(*until)),
            Self::Children { started, pending, until } => {
                write!(f, "waits for {pending} of {started} children{}", Until(*until))
            }
            Self::QueuePaused { queue, since } => write!(f, "queue {queue} is paused since {since}"),
            Self::NoWorker { machine, version, step } => {
                write!(f, "no live worker knows {machine} version {version} at {step}")
            }
            Self::QueueUnserved { queue } => write!(f, "no live worker that knows it serves queue {queue}"),
            Self::Due { since } => write!(f, "due since {since}: it is next in line, or behind others"),
        }
    }
}

struct Until(Option<Timestamp>);

impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |until| write!(f, " until {until}"))
    }
}

struct HeldBy<'a>(&'a [InstanceId]);

impl fmt::Display for HeldBy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        match ids.as_slice() {
            [] => Ok(()),
            [one] => write!(f, ", held by instance {one}"),
            several => write!(f, ", held by instances {}", several.join(", ")),
        }
    }
}
