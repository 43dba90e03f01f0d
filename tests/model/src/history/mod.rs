//! Random histories. A step names instances and claims by a number that is taken modulo how many there are, so that any
//! part of a history is a history: that is what it is shrunk to.

mod generate;
mod play;
mod pools;
mod resolve;

pub use generate::{Mix, history};
pub use play::play;

use gen_durable_runtime::model::AwaitMode;
use serde_json::Value;

/// A step of a history.
#[derive(Debug, Clone)]
pub enum Step {
    Start(Vec<StartPlan>),
    Claim {
        queue: &'static str,
        limit: u32,
        worker: &'static str,
        knows: usize,
        crashed: bool,
        lease: u8,
    },
    /// Some of the claims in hand, whether they still stand or not.
    Commit(Vec<(u8, Ending, Beside)>),
    /// The last batch once more: its answer was lost.
    Resend,
    /// A process forgets a claim.
    Crash(u8),
    Renew {
        lease: u8,
    },
    RenewOne {
        claim: u8,
        lease: u8,
    },
    Signal(Vec<SignalPlan>),
    EndWaits(u32),
    Reap(u32),
    Reclaim(&'static str),
    Owners,
    Endings,
    Show(Whom),
    List {
        by: u8,
        value: u8,
        before: Option<u8>,
        limit: u32,
    },
    /// Of one that has children, in its last round or one before.
    Children {
        of: u8,
        back: u8,
        machine: bool,
        after: i64,
        limit: u32,
    },
    History {
        of: u8,
        skip: u32,
        limit: u32,
    },
    /// Lines that are older than so many hours.
    Forget {
        hours: u8,
        limit: u32,
    },
    /// What ended more than so many hours ago goes: of the machines whose bits are set, done and failed.
    Purge {
        hours: u8,
        which: u8,
    },
    /// So many hours pass.
    Pass(u8),
    MakeForeign(u8),
}

/// How a run of a step ends.
#[derive(Debug, Clone)]
pub enum Ending {
    Goto { entry: EntryPlan, delay: u8, carry: Option<Value>, may_continue: bool },
    FanOut { entry: EntryPlan, children: Vec<StartPlan>, quorum: Option<u32>, deadline: Option<When> },
    RetryIn(u8),
    Error { text: &'static str, permanent: bool, catch: Option<EntryPlan> },
    Done { result: Value, carry: Option<Value> },
    Fail { reason: &'static str, carry: Option<Value> },
    Release,
}

/// What an outcome does beside its own row.
#[derive(Debug, Clone, Default)]
pub struct Beside {
    pub spawned: Vec<StartPlan>,
    pub signals: Vec<SignalPlan>,
}

/// A step to enter.
#[derive(Debug, Clone)]
pub struct EntryPlan {
    pub step: &'static str,
    pub state: Value,
    pub rule: Rule,
    pub queue: Option<&'static str>,
    pub priority: Option<i16>,
    pub slot: Option<&'static str>,
}

/// What it waits for.
#[derive(Debug, Clone)]
pub enum Rule {
    Plain,
    Timer(When),
    Wait(&'static WaitPlan, Option<When>),
}

/// The names it waits for, the group of each, and how many must come.
#[derive(Debug)]
pub struct WaitPlan(pub &'static [&'static str], pub &'static [i16], pub AwaitMode);

/// When a wait ends, in hours.
#[derive(Debug, Clone, Copy)]
pub enum When {
    In(u8),
    At(i8),
    /// At the end of the calendar.
    Never,
    /// At its beginning; only for timers, for of two such waits either may end first.
    Ever,
}

/// An instance to start.
#[derive(Debug, Clone)]
pub struct StartPlan {
    pub machine: (&'static str, i32),
    pub entry: EntryPlan,
    pub carry: Option<Value>,
    pub key: Option<&'static str>,
    pub key_kept: bool,
    pub delay: u8,
    pub queue: Option<&'static str>,
    pub priority: Option<i16>,
}

/// A signal to send.
#[derive(Debug, Clone)]
pub struct SignalPlan {
    pub target: Whom,
    pub name: &'static str,
    pub payload: Value,
    pub dedup: Option<&'static str>,
}

/// An instance.
#[derive(Debug, Clone)]
pub enum Whom {
    One(u8),
    Key(&'static str),
    Nobody,
}
