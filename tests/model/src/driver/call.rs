//! What is asked, in the model's ids, and what comes back.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use gen_durable_runtime::{
    model::{ClaimToken, InstanceId, SignalSpec, StartSpec, Started, Status, Target, Transition},
    store::{Commits, Delivery, Filter},
};
use serde_json::Value;

use super::brief;
use crate::{
    About, Line, Shown,
    model::{Ended, Kin},
};

/// One call, or a deed from outside.
#[derive(Clone)]
pub enum Call {
    Start(Vec<StartSpec>),
    Claim {
        queue: &'static str,
        limit: u32,
        token: ClaimToken,
        lease: Duration,
        known: Steps,
        crashed: bool,
    },
    Commit(Vec<Transition>),
    Renew(Vec<(InstanceId, ClaimToken)>, Duration),
    RenewOne(InstanceId, ClaimToken, Duration),
    Signal(Vec<SignalSpec>),
    EndWaits(u32),
    Reap(u32),
    Reclaim(String),
    Owners,
    Endings(Vec<InstanceId>),
    Show(Target),
    List(Filter),
    /// A page of the children of a round, and their counts.
    Children {
        parent: InstanceId,
        round: i64,
        machines: &'static [&'static str],
        after: i64,
        limit: u32,
    },
    /// Of an instance: all but so many, and at most so many.
    History(InstanceId, u32, u32),
    Forget(Duration, u32),
    /// What ended so long ago.
    Purge(Duration, Vec<gen_durable_runtime::store::Ended>),
    /// Time passes: so many microseconds.
    Shift(i64),
    /// A row becomes one of another engine.
    MakeForeign(InstanceId),
}

/// Machines, versions and steps that a claim knows.
pub type Steps = &'static [(&'static str, i32, &'static str)];

/// What came back, in the model's ids.
#[derive(Debug, PartialEq)]
pub enum Answer {
    Started(Vec<Started>),
    Claimed {
        claims: Vec<Claimed>,
        looked: usize,
        next_due: Option<About>,
        next_deadline: Option<About>,
    },
    Committed(Commits),
    NotRenewed {
        busy: Vec<(InstanceId, String)>,
        lost: Vec<(InstanceId, String)>,
    },
    Extended(bool),
    Delivered(Vec<Delivery>),
    Swept {
        rows: usize,
        queues: BTreeSet<String>,
        next: Option<About>,
    },
    Owners(BTreeSet<String>),
    Standing(BTreeMap<InstanceId, Standing>),
    Shown(Option<Box<(InstanceId, Shown)>>),
    Listed(Vec<InstanceId>),
    Children {
        counts: BTreeMap<String, [u64; 3]>,
        page: Vec<Ended>,
        /// All of the last round, and of every round, with their counts.
        kin: [(Vec<Kin>, [u64; 3]); 2],
    },
    History(Vec<Line>),
    Forgotten(usize),
    /// How many went, and what made way.
    Purged(usize, usize),
    Nothing,
}

/// A claim as it can be compared, JSON by value.
#[derive(Debug, PartialEq)]
pub struct Claimed {
    pub id: InstanceId,
    pub token: String,
    pub machine: (String, i32, String),
    pub state: Value,
    pub carry: Option<Value>,
    /// Attempts, errors, crashes.
    pub counts: (u32, u32, u32),
    pub transitions: i64,
    pub place: (String, i16),
    pub home: (Option<String>, Option<i16>),
    pub concurrency_key: Option<String>,
    /// Whose child it is, and of which round.
    pub parent: Option<(InstanceId, Option<i64>)>,
    /// `None` when it is not settled; a step that waits for nothing has `Some(None)`.
    pub wake: Option<Option<Vec<(i64, String, Value)>>>,
}

/// How an instance stands.
#[derive(Debug, PartialEq)]
pub struct Standing {
    pub machine: String,
    pub status: Status,
    pub step: String,
    pub result: Option<Value>,
    pub error: Option<String>,
}

/// One line.
impl std::fmt::Debug for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Start(starts) => write!(f, "start {}", brief::all(starts, brief::start)),
            Self::Claim { queue, limit, token, lease, known, crashed } => {
                let (token, all) = (token.as_str(), known.len());
                let crashed = if *crashed { "" } else { ", none that crashed" };
                write!(f, "claim up to {limit} of {queue:?} as {token:?} for {lease:?}, {all} steps known{crashed}")
            }
            Self::Commit(batch) => write!(f, "commit {}", brief::all(batch, brief::transition)),
            Self::Renew(claims, lease) => write!(f, "renew {claims:?} for {lease:?}"),
            Self::RenewOne(id, token, lease) => write!(f, "renew only #{id} of {:?} for {lease:?}", token.as_str()),
            Self::Signal(signals) => write!(f, "signal {}", brief::all(signals, brief::signal)),
            Self::EndWaits(limit) => write!(f, "end up to {limit} waits"),
            Self::Reap(limit) => write!(f, "reap up to {limit}"),
            Self::Reclaim(owner) => write!(f, "reclaim from {owner:?}"),
            Self::Owners => write!(f, "owners"),
            Self::Endings(ids) => write!(f, "endings of {ids:?}"),
            Self::Show(target) => write!(f, "show {target:?}"),
            Self::List(filter) => write!(f, "list {filter:?}"),
            Self::Children { parent, round, machines, after, limit } => {
                write!(f, "children of #{parent} at {round}: up to {limit} of {machines:?} after {after}")
            }
            Self::History(id, skip, limit) => write!(f, "history of #{id}: up to {limit} after {skip}"),
            Self::Forget(age, limit) => write!(f, "forget up to {limit} lines older than {age:?}"),
            Self::Purge(age, ended) => {
                write!(f, "purge what ended {age:?} ago of {}", brief::all(ended, |e| format!("{e:?}")))
            }
            Self::Shift(micros) => write!(f, "{} h pass", micros / crate::HOUR),
            Self::MakeForeign(id) => write!(f, "#{id} becomes another engine's"),
        }
    }
}
