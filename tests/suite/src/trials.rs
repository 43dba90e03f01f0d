//! The machines of the trials: transfers, alarms, families.
//!
//! Included by the worker binary and by the trials, as `machines.rs` is.
#![allow(dead_code, missing_debug_implementations, unreachable_pub)]

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gen_durable::prelude::*;
use jiff::Timestamp;
use suite::{Booking, book};

use crate::machines::{Go, Rig, Then, fall};

/// Books within the transaction of its outcome, after so long.
#[durable_fsm(output(u32), handler(Rig), retry(attempts = 100_000, backoff = "5ms", cap = "50ms", crashes = 100_000))]
pub enum Transfer {
    #[step(start, next(Booked))]
    Book { number: i64, from: i64, to: i64, amount: i64, millis: u64 },
    #[step(done)]
    Booked {},
}

impl TransferSteps for Rig {
    async fn book(&self, step: Book, _: &StepContext) -> StepResult<Book> {
        let Book { number, from, to, amount, millis } = step;
        tokio::time::sleep(Duration::from_millis(millis)).await;
        let booking = Booking { number, from, to, amount };
        Ok(goto(Booked {}).in_transaction(move |mut tx| Box::pin(async move { book(&mut tx, booking).await })))
    }
    async fn booked(&self, _: Booked, _: &StepContext) -> StepResult<Booked> {
        Ok(done(1))
    }
}

/// Waits for a signal that never comes, for so long or until then.
#[durable_fsm(output(bool), handler(Rig))]
pub enum Alarm {
    #[step(start, await(Go), timeout(within), done)]
    Within { within: Duration },
    #[step(start, await(Go), until(at), done)]
    At { at: Timestamp },
}

impl AlarmSteps for Rig {
    async fn within(&self, _: Within, go: Result<Go, TimedOut>, _: &StepContext) -> StepResult<Within> {
        Ok(done(go.is_err()))
    }
    async fn at(&self, _: At, go: Result<Go, TimedOut>, _: &StepContext) -> StepResult<At> {
        Ok(done(go.is_err()))
    }
}

/// Ends as told, in the first moment of the next slice of wall time, if its slices have a length: many then end at once.
#[durable_fsm(output(u64), handler(Rig), retry(attempts = 1, crashes = 1_000))]
pub enum Chore {
    #[step(start, done)]
    Tidy { number: u64, slice_ms: u64 },
    #[step(start, retry(attempts = 1, crashes = 2), done)]
    Risk { number: u64, millis: u64, then: Then },
}

impl ChoreSteps for Rig {
    async fn tidy(&self, step: Tidy, _: &StepContext) -> StepResult<Tidy> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        if let Some(into) = u64::try_from(now.as_millis()).unwrap_or_default().checked_rem(step.slice_ms) {
            tokio::time::sleep(Duration::from_millis(step.slice_ms - into)).await;
        }
        Ok(done(step.number))
    }
    async fn risk(&self, step: Risk, cx: &StepContext) -> StepResult<Risk> {
        self.effect("risk", cx).await?;
        tokio::time::sleep(Duration::from_millis(step.millis)).await;
        fall(step.then).await?;
        Ok(done(step.number))
    }
}

/// What a join saw: the children it waited for; those that ended with a result, as a sum; those that failed, and why.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Seen {
    pub counts: (u64, u64, u64),
    pub sum: u64,
    pub failed: Vec<(u32, String)>,
}

/// Waits for its children, several times over; every other child stands in the queue `aside`.
#[durable_fsm(output(Vec<Seen>), handler(Rig), retry(attempts = 1_000, backoff = "20ms", cap = "1s", crashes = 1_000))]
pub enum Household {
    #[step(start, key(name), next(Gather))]
    Share { name: u64, chores: Vec<Then>, slice_ms: u64, rounds: u32, seen: Vec<Seen> },
    #[step(join(Chore), next(Share), done)]
    Gather { name: u64, chores: Vec<Then>, slice_ms: u64, rounds: u32, seen: Vec<Seen> },
}

impl HouseholdSteps for Rig {
    async fn share(&self, step: Share, _: &StepContext) -> StepResult<Share> {
        let Share { name, chores, slice_ms, rounds, seen } = step;
        let round = seen.len();
        let children = (0..).zip(&chores).map(|(number, then)| {
            let child = match then {
                Then::Done => start(Tidy { number, slice_ms }),
                then => start(Risk { number, millis: 2 * slice_ms, then: *then }),
            };
            let aside = (usize::try_from(number).unwrap_or_default() + round) % 2 == 1;
            if aside { child.queue("aside") } else { child }
        });
        let children: Vec<_> = children.collect();
        Ok(fan_out(Gather { name, chores, slice_ms, rounds, seen }).children(children).into())
    }

    async fn gather(&self, step: Gather, joined: Joined<Chore>, _: &StepContext) -> StepResult<Gather> {
        let Gather { name, chores, slice_ms, rounds, mut seen } = step;
        let mut now = Seen::default();
        for child in joined.each().await? {
            match child {
                Ok(result) => now.sum += result,
                Err(failure) => now.failed.push((failure.index, failure.reason)),
            }
        }
        let counts = joined.counts();
        now.counts = (counts.started, counts.done, counts.failed);
        seen.push(now);
        Ok(match rounds {
            0 | 1 => done(seen),
            left => goto(Share { name, chores, slice_ms, rounds: left - 1, seen }),
        })
    }
}
