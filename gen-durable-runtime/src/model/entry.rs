use std::{borrow::Cow, time::Duration};

use jiff::Timestamp;

use super::{Invalid, Json, limits};

/// A step as it is entered: its data, and the rules that stand on it.
///
/// Made by generated code from a step struct; the same at start and after `goto`.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Stored name of the step.
    pub step: &'static str,
    /// The step's data, a JSON object.
    pub state: Json,
    /// Signals to wait for before the step runs.
    pub wait: Option<Wait>,
    /// Children to wait for before the step runs.
    pub join: Option<Join>,
    /// A pure timer: the step runs no earlier than this.
    pub timer: Option<Deadline>,
    /// The step's own queue; otherwise the instance's.
    pub queue: Option<&'static str>,
    /// The step's own priority; otherwise the instance's.
    pub priority: Option<i16>,
    /// The concurrency key the step executes under.
    pub concurrency: Option<ConcurrencySlot>,
    /// The rate limit that admits the step.
    pub rate: Option<RateTake>,
    /// A cancel waits until the step is left.
    pub shielded: bool,
}

impl Entry {
    /// A step without rules.
    pub fn plain(step: &'static str, state: Json) -> Self {
        Self {
            step,
            state,
            wait: None,
            join: None,
            timer: None,
            queue: None,
            priority: None,
            concurrency: None,
            rate: None,
            shielded: false,
        }
    }

    /// Whether the step waits, for signals or for time, before it runs.
    pub fn waits(&self) -> bool {
        self.wait.is_some() || self.timer.is_some() || self.join.is_some()
    }

    /// Checks what only run time knows: keys, delays, weights.
    ///
    /// # Errors
    /// Names the field and its limit.
    pub fn check(&self) -> Result<(), Invalid> {
        let deadline = self.wait.as_ref().and_then(|w| w.deadline).or(self.timer);
        let deadline = deadline.or(self.join.as_ref().and_then(|j| j.deadline));
        if let Some(Deadline::After(after)) = deadline {
            limits::delay("timeout", after)?;
        }
        if let Some(slot) = &self.concurrency {
            limits::key("concurrency key", &slot.key)?;
        }
        self.rate.as_ref().map_or(Ok(()), RateTake::check)
    }
}

/// The signals a step waits for.
#[derive(Debug, Clone, PartialEq)]
pub struct Wait {
    /// Stored names, aliases included, in the order of the annotation.
    pub names: Cow<'static, [&'static str]>,
    /// For each name the position of the signal or set it stands for.
    pub groups: Cow<'static, [i16]>,
    /// How many of them must have come.
    pub mode: AwaitMode,
    /// When the wait ends without them.
    pub deadline: Option<Deadline>,
}

impl Wait {
    /// For any one of these signals.
    pub fn any(names: impl Into<Cow<'static, [&'static str]>>, deadline: Option<Deadline>) -> Self {
        let names = names.into();
        let groups = (0..).take(names.len()).collect();
        Self { names, groups, mode: AwaitMode::Any, deadline }
    }

    /// How many signals end the wait: one of each group, or so many.
    pub fn need(&self) -> i32 {
        match self.mode {
            AwaitMode::Any | AwaitMode::AnyBiased => 1,
            AwaitMode::All => i32::from(self.groups.iter().max().map_or(0, |last| last + 1)),
            AwaitMode::Count(n) => i32::try_from(n).unwrap_or(i32::MAX),
        }
    }
}

/// The children a step waits for: those that its fan-out starts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Join {
    /// It runs as soon as so many are done, or cannot be any more; `None` waits for the end of all.
    pub quorum: Option<u32>,
    /// When the wait ends without them.
    pub deadline: Option<Deadline>,
}

/// What leaves a step from outside, but for a cancel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exits {
    /// The deadline of its machine.
    pub expires: bool,
    /// Signals with these stored names.
    pub signals: Vec<&'static str>,
}

/// How many of the awaited signals must have come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AwaitMode {
    /// The oldest one that matches.
    Any,
    /// The first of the list that has come (`biased`).
    AnyBiased,
    /// One of each.
    All,
    /// So many, in order of arrival.
    Count(u32),
}

/// When a wait or a timer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deadline {
    /// So long after the step was entered.
    After(Duration),
    /// At this instant, judged by the database's clock.
    At(Timestamp),
}

/// A concurrency key, taken when the step is claimed and given back when it ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConcurrencySlot {
    /// `name:part:part`, the stored key.
    pub key: String,
    /// The limit of its key type; `None` is one at a time.
    pub limit: Option<u32>,
}

/// What a rate limit takes when the step is claimed.
#[derive(Debug, Clone, PartialEq)]
pub struct RateTake {
    /// `name:part:part`, the stored key.
    pub key: String,
    /// Tokens.
    pub weight: f64,
    /// The most tokens one bucket shard can hold.
    pub weight_max: f64,
}

impl RateTake {
    fn check(&self) -> Result<(), Invalid> {
        limits::key("rate limit key", &self.key)?;
        if self.weight > 0.0 && self.weight <= self.weight_max {
            return Ok(());
        }
        let max = self.weight_max;
        Err(Invalid::new("weight", format!("is {}: a bucket of this limit holds 1 to {max} tokens", self.weight)))
    }
}
