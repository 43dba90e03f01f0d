use std::{collections::BTreeMap, time::Duration};

use super::shares::Shares;
use crate::model::{Invalid, Retention, did_you_mean, limits};

/// How an engine works. Every span is above zero.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EngineConfig {
    /// Steps that execute at once, for each queue this process serves.
    pub queues: BTreeMap<String, usize>,
    /// Steps that execute at once in this process, in all its queues, which share them by their weights; without it each has its own.
    pub concurrency: Option<usize>,
    /// Weights of queues; 1 where nothing is said.
    pub weights: BTreeMap<String, u32>,
    /// How long a claim stands without renewal: how late a dead process's work is taken up again.
    pub lease: Duration,
    /// The floor under lost wake-ups: how often an idle queue is looked at, where none are heard; else more seldom by twice
    /// the number of queues.
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
            concurrency: None,
            weights: BTreeMap::new(),
            lease: Duration::from_secs(30),
            poll: Duration::from_secs(1),
            sweep: Duration::from_secs(3),
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
        self.check_shares()?;
        match self.batch {
            0 | 10_001.. => Err(Invalid::new("batch", "is 1 to 10,000 rows")),
            1..=10_000 => Ok(()),
        }
    }

    /// Leases are renewed three times over.
    pub(super) fn renew_every(&self) -> Duration {
        self.lease / 3
    }

    fn check_shares(&self) -> Result<(), Invalid> {
        if self.concurrency.is_some_and(|steps| steps == 0 || steps > 100_000) {
            return Err(Invalid::new("concurrency", "is 1 to 100,000 steps at once"));
        }
        for (queue, weight) in &self.weights {
            if *weight == 0 || *weight > 1_000 {
                return Err(Invalid::new(format!("weight of queue {queue}"), "is 1 to 1,000"));
            }
            if !self.queues.contains_key(queue) {
                let hint = did_you_mean(queue, self.queues.keys().map(String::as_str));
                return Err(Invalid::new(
                    format!("weight of queue {queue}"),
                    format!("is of a queue that is not served{hint}"),
                ));
            }
            if self.concurrency.is_none() {
                return Err(Invalid::new(
                    format!("weight of queue {queue}"),
                    "shares nothing: say the concurrency of the process",
                ));
            }
        }
        Ok(())
    }

    pub(super) fn shares(&self) -> Option<Shares> {
        let share =
            |(queue, most): (&String, &usize)| (queue.clone(), self.weights.get(queue).copied().unwrap_or(1), *most);
        self.concurrency.map(|places| Shares::new(places, self.queues.iter().map(share)))
    }

    pub(super) fn steps_at_once(&self) -> usize {
        self.queues.values().sum()
    }
}
