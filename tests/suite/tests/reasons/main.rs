//! Why an instance is not running, and rows that no live worker knows.

mod strangers;
mod why;

use std::time::Duration;

use gen_durable::{Client, RunningWorker, TimedOut, Worker, prelude::*};
use serde::{Deserialize, Serialize};
use suite::{Db, store_options};

/// Two at once.
#[derive(ConcurrencyKey)]
#[concurrency(limit = 2, key(u64))]
pub struct Door;

#[derive(ConcurrencyKey)]
#[concurrency(key(u64))]
pub struct Lock;

#[derive(RateLimit)]
#[rate_limit(allowed = 1, per = "1h", burst = 1)]
pub struct Slow;

/// Serves everything but [`Foreign`].
pub struct Hands;

pub struct ForeignHands;

#[durable_job(concurrency(Door, by(key)))]
pub async fn pass(_: &Hands, key: u64, ms: u64) -> Result<u64, StepError> {
    tokio::time::sleep(Duration::from_millis(ms)).await;
    Ok(key)
}

#[durable_job(concurrency(Lock, by(key)))]
pub async fn turn(_: &Hands, key: u64, ms: u64) -> Result<u64, StepError> {
    tokio::time::sleep(Duration::from_millis(ms)).await;
    Ok(key)
}

#[durable_job(rate_limit(Slow))]
pub async fn drip(_: &Hands, n: u64) -> Result<u64, StepError> {
    Ok(n)
}

#[durable_job]
pub async fn plain(_: &Hands, ms: u64) -> Result<u64, StepError> {
    tokio::time::sleep(Duration::from_millis(ms)).await;
    Ok(ms)
}

/// Fails for an hour.
#[durable_job(retry(attempts = 5, backoff = "1h"))]
pub async fn broken(_: &Hands, n: u64) -> Result<u64, StepError> {
    Err(StepError::from(std::io::Error::other(format!("broken {n}"))))
}

/// What only [`ForeignHands`] serve.
#[durable_job]
pub async fn foreign(_: &ForeignHands, n: u64) -> Result<u64, StepError> {
    Ok(n)
}

#[derive(Serialize, Deserialize, Signal)]
pub struct Paid {}

#[derive(Serialize, Deserialize, Signal)]
pub struct Refused {}

#[durable_fsm(output(u64), handler(Hands))]
pub enum Waiting {
    #[step(start, await(Paid, Refused), timeout = "2h", done)]
    ForMoney { n: u64 },
    #[step(start, timeout = "2h", done)]
    ForTime { n: u64 },
    #[step(start, next(ForAll))]
    Split { n: u64 },
    #[step(join(Plain), done)]
    ForAll { n: u64 },
}

impl WaitingSteps for Hands {
    async fn for_money(
        &self,
        step: ForMoney,
        _: Result<ForMoneySignal, TimedOut>,
        _: &StepContext,
    ) -> StepResult<ForMoney> {
        Ok(done(step.n))
    }

    async fn for_time(&self, step: ForTime, _: &StepContext) -> StepResult<ForTime> {
        Ok(done(step.n))
    }

    async fn split(&self, step: Split, _: &StepContext) -> StepResult<Split> {
        let later = |n| Plain::start(n).delay(Duration::from_secs(3_600 * n));
        Ok(fan_out(ForAll { n: step.n }).children([later(0), later(1), later(1)]).into())
    }

    async fn for_all(&self, step: ForAll, _: Joined<Plain>, _: &StepContext) -> StepResult<ForAll> {
        Ok(done(step.n))
    }
}

pub fn client(db: &Db) -> Client {
    Client::on(store_options(&db.url).open().expect("a store"))
}

/// A worker that serves what [`Hands`] do, with so many places.
pub async fn hands(client: &Client, queue: &str, places: usize) -> RunningWorker {
    let worker = Worker::new(client.clone()).handler(Hands).leave_unserved().queue(queue, places);
    worker.only_these_queues().without_migration().start().await.expect("starts")
}

/// A worker that serves nothing but [`Foreign`].
pub async fn foreign_hands(client: &Client, queue: &str) -> RunningWorker {
    let worker = Worker::new(client.clone()).handler(ForeignHands).leave_unserved().queue(queue, 10);
    worker.only_these_queues().without_migration().start().await.expect("starts")
}
