use std::{collections::BTreeMap, time::Duration};

use crate::model::{Invalid, Retention, limits};

/// How an engine works. Every span is above zero.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EngineConfig {
    /// Steps that execute at once, for each queue this process serves.
    pub queues: BTreeMap<String, usize>,
    /// How long a claim stands without renewal: how late a dead process's work is taken up again.
    pub lease: Duration,
    /// The floor under lost wake-ups: how often an idle queue is looked at, where none are heard; else more seldom by the number
    /// of queues and one.
    pub poll: Duration,
    /// How often claims whose lease ended are looked for.
    pub sweep: Duration,
    /// How long a stopping worker waits for running steps.
    pub drain: Duration,
    /// Rows a claim or a commit may have.
    pub batch: u32,
    /// How long lines of history are kept.
    pub history: Duration,
    /// How long ended instances stay whose machine does not say so itself.
    pub retention: Retention,
    /// Steps an instance runs in a row before others get its place.
    pub in_place: u32,
}

impl Default for EngineConfig {
    fn default() -> Self {
        Self {
            queues: BTreeMap::new(),
            lease: Duration::from_secs(30),
            poll: Duration::from_secs(1),
            sweep: Duration::from_secs(2),
            drain: Duration::from_secs(30),
            batch: 1_000,
            history: Duration::from_secs(30 * 24 * 3_600),
            retention: Retention::default(),
            in_place: 64,
        }
    }
}

impl EngineConfig {
    /// Checks what would stall or spin.
    ///
    /// # Errors
    /// Names the field and its limit.
    pub fn check(&self) -> Result<(), Invalid> {
        let spans = [("lease", self.lease), ("poll", self.poll), ("sweep", self.sweep), ("history", self.history)];
        let kept = [("retention of done", self.retention.done), ("retention of failed", self.retention.failed)];
        let kept = kept.into_iter().filter_map(|(field, span)| Some((field, span?)));
        for (field, span) in spans.into_iter().chain(kept) {
            if span < Duration::from_millis(10) || span > limits::DELAY_MAX {
                return Err(Invalid::new(field, format!("is {span:?}: 10 ms to 100 years are allowed")));
            }
        }
        for (queue, steps) in &self.queues {
            limits::name("queue", queue)?;
            if *steps == 0 || *steps > 100_000 {
                return Err(Invalid::new(format!("queue {queue}"), "runs 1 to 100,000 steps at once"));
            }
        }
        match self.batch {
            0 | 10_001.. => Err(Invalid::new("batch", "is 1 to 10,000 rows")),
            1..=10_000 => Ok(()),
        }
    }

    /// Leases are renewed three times over.
    pub(super) fn renew_every(&self) -> Duration {
        self.lease / 3
    }

    pub(super) fn steps_at_once(&self) -> usize {
        self.queues.values().sum()
    }
}
