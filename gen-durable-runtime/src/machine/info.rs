//! What a registered machine says of itself: everything the annotation carries, as constants.

use std::time::Duration;

use crate::model::{AwaitMode, Exits, Retention, RetryPolicy};

/// A machine, as its annotation describes it.
#[derive(Debug)]
pub struct MachineInfo {
    /// Stored name.
    pub name: &'static str,
    /// Version.
    pub version: i32,
    /// Older stored names still accepted.
    pub aliases: &'static [&'static str],
    /// Where it stands in the code: `crate::module::Enum`.
    pub rust_path: &'static str,
    /// Its first doc line.
    pub doc: &'static str,
    /// A `#[durable_job]`.
    pub job: bool,
    /// Default queue.
    pub queue: &'static str,
    /// Default priority.
    pub priority: i16,
    /// Its steps, in the order of the enum.
    pub steps: &'static [StepInfo],
    /// Exits from any step.
    pub exits: &'static [ExitInfo],
    /// How long an instance may take, with `on_deadline`.
    pub deadline: Option<Duration>,
    /// By design never ends.
    pub endless: bool,
    /// How long the dedup keys of an endless machine protect.
    pub dedup: Option<Duration>,
    /// The older version whose rows it takes over.
    pub upgrades: Option<&'static MachineInfo>,
    /// The store it needs.
    pub store: Option<&'static str>,
    /// Whether its history is kept.
    pub history: bool,
    /// How long ended instances stay: done, failed.
    pub retention: (Option<Duration>, Option<Duration>),
}

/// An exit that may be taken from any step.
#[derive(Debug)]
pub struct ExitInfo {
    /// What takes it.
    pub kind: ExitKind,
    /// Stored name of the step it leads to.
    pub to: &'static str,
}

/// What takes an exit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitKind {
    /// A step failed for good.
    Catch,
    /// The instance was cancelled.
    Cancel,
    /// The machine's deadline passed.
    Deadline,
    /// A signal with one of these names came.
    Signal(&'static [&'static str]),
}

/// A step, as its annotation describes it.
#[derive(Debug)]
pub struct StepInfo {
    /// Stored name.
    pub name: &'static str,
    /// Older stored names still accepted.
    pub aliases: &'static [&'static str],
    /// The variant.
    pub variant: &'static str,
    /// Its first doc line.
    pub doc: &'static str,
    /// An instance may begin here.
    pub start: bool,
    /// It has a business key: `Some(kept)`.
    pub key: Option<bool>,
    /// Stored names of the steps that may follow.
    pub next: &'static [&'static str],
    /// The machine may end here.
    pub done: bool,
    /// The machine may end here as failed.
    pub fail: bool,
    /// The signals it waits for, aliases included.
    pub awaits: Option<AwaitInfo>,
    /// What bounds its wait.
    pub timeout: Option<TimeoutInfo>,
    /// The children it waits for.
    pub join: Option<JoinInfo>,
    /// Machines that may be started with its outcome.
    pub spawns: &'static [&'static str],
    /// The rate limit that admits it.
    pub rate_limit: Option<RateLimitInfo>,
    /// The concurrency key it executes under.
    pub concurrency: Option<ConcurrencyInfo>,
    /// Retries, backoff, crashes.
    pub retry: RetryPolicy,
    /// The limit on one run.
    pub run_timeout: Option<Duration>,
    /// Where the machine goes when the step failed for good: its own or the machine's.
    pub catch: Option<&'static str>,
    /// Schedules that start here.
    pub schedules: &'static [ScheduleInfo],
    /// Its own queue.
    pub queue: Option<&'static str>,
    /// Its own priority.
    pub priority: Option<i16>,
    /// Exits do not interrupt it.
    pub shield: bool,
    /// The machine's deadline leaves it, for `on_deadline`.
    pub expires: bool,
    /// The signals that leave it, for `on(Signal, ..)`: one list of stored names each.
    pub exit_signals: &'static [&'static [&'static str]],
}

/// What a step awaits.
#[derive(Debug)]
pub struct AwaitInfo {
    /// One list of stored names, aliases included, for each awaited signal or set.
    pub signals: &'static [&'static [&'static str]],
    /// How many of them.
    pub mode: AwaitMode,
}

/// What bounds a wait, or what a timer step waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeoutInfo {
    /// A constant.
    After(Duration),
    /// A `Duration` in this field.
    AfterField(&'static str),
    /// An instant in this field.
    UntilField(&'static str),
}

/// What a join waits for.
#[derive(Debug)]
pub struct JoinInfo {
    /// Stored names of the child machines.
    pub machines: &'static [&'static str],
    /// How many must be done, if not all must have ended.
    pub quorum: Option<QuorumInfo>,
    /// Whether the rest is cancelled.
    pub cancel_rest: bool,
}

/// How many children must be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuorumInfo {
    /// A constant.
    Constant(u32),
    /// In this field.
    Field(&'static str),
}

/// A rate limit type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateLimitInfo {
    /// Stored name.
    pub name: &'static str,
    /// Tokens per `per`.
    pub allowed: u32,
    /// The period.
    pub per: Duration,
    /// Bucket size.
    pub burst: u32,
    /// Counter rows.
    pub shards: u16,
    /// The constant weight of this step; `None` when a field says it.
    pub weight: Option<u32>,
}

/// A concurrency key type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConcurrencyInfo {
    /// Stored name.
    pub name: &'static str,
    /// How many execute at once; `None` is one, by the unique index.
    pub limit: Option<u32>,
    /// Counter rows.
    pub shards: u16,
    /// The slot is held from first claim to end.
    pub held: bool,
}

/// A schedule on a start step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScheduleInfo {
    /// When it fires.
    pub when: ScheduleWhen,
    /// IANA time zone.
    pub tz: Option<&'static str>,
    /// A missed slot is skipped, not caught up.
    pub skip_missed: bool,
}

/// When a schedule fires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScheduleWhen {
    /// At the multiples of this span since 1970-01-01T00:00Z.
    Every(Duration),
    /// By a five-field cron expression.
    Cron(&'static str),
}

impl MachineInfo {
    /// How long its ended instances stay, as far as its annotation says so.
    pub fn retention(&self) -> Retention {
        Retention { done: self.retention.0, failed: self.retention.1 }
    }

    /// Whether this stored name is one of its own.
    pub fn is_named(&self, stored: &str) -> bool {
        self.name == stored || self.aliases.contains(&stored)
    }

    /// The step with this stored name or alias.
    pub fn step(&self, stored: &str) -> Option<&'static StepInfo> {
        self.steps.iter().find(|s| s.name == stored || s.aliases.contains(&stored))
    }

    /// The exits that leave this step. A signal that the step awaits itself is not one of them.
    pub fn exits_at(&self, stored: &str) -> Exits {
        if self.exits.is_empty() {
            return Exits::default();
        }
        let Some(step) = self.step(stored) else { return Exits::default() };
        let awaited = |name: &&str| step.awaits.as_ref().is_some_and(|a| a.signals.iter().any(|s| s.contains(name)));
        let signals = step.exit_signals.iter().copied().flatten().copied().filter(|name| !awaited(name)).collect();
        Exits { expires: step.expires, signals }
    }
}
