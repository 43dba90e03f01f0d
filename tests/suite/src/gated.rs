//! The machines of the trials of limits, each step of which takes so long.
//!
//! Included by their worker binary and by the trials, not part of the library: a binary serves every machine that is linked
//! into it.
#![allow(dead_code, missing_debug_implementations, unreachable_pub)]

use std::time::Duration;

use gen_durable::prelude::*;

/// The handler of them all.
#[derive(Clone, Copy)]
pub struct Keeper;

/// One at a time, by the unique index.
#[derive(ConcurrencyKey)]
#[concurrency(key(u64))]
pub struct Alone;

#[derive(ConcurrencyKey)]
#[concurrency(limit = 3, key(u64))]
pub struct Narrow;

#[derive(ConcurrencyKey)]
#[concurrency(limit = 8, shards = 8, key(u64))]
pub struct Wide;

/// Kept from the first claim to the end.
#[derive(ConcurrencyKey)]
#[concurrency(limit = 3, held, key(u64))]
pub struct Kept;

#[derive(RateLimit)]
#[rate_limit(allowed = 5, per = "60s", burst = 5, key(u64))]
pub struct Slow;

#[derive(RateLimit)]
#[rate_limit(allowed = 8, per = "60s", burst = 8, shards = 4, key(u64))]
pub struct Split;

/// For this key.
async fn work(_key: u64, ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}

#[durable_job(concurrency(Alone, by(key)), retry(attempts = 3, crashes = 100_000))]
pub async fn single(_: &Keeper, key: u64, ms: u64) -> Result<(), StepError> {
    work(key, ms).await;
    Ok(())
}

#[durable_job(concurrency(Narrow, by(key)), retry(attempts = 3, crashes = 100_000))]
pub async fn squeeze(_: &Keeper, key: u64, ms: u64) -> Result<(), StepError> {
    work(key, ms).await;
    Ok(())
}

#[durable_job(concurrency(Wide, by(key)), retry(attempts = 3, crashes = 100_000))]
pub async fn stroll(_: &Keeper, key: u64, ms: u64) -> Result<(), StepError> {
    work(key, ms).await;
    Ok(())
}

/// Comes, is away for as long as it was there, and leaves.
#[durable_fsm(handler(Keeper), concurrency(Kept, by(key)), retry(attempts = 3, crashes = 100_000))]
pub enum Lodger {
    #[step(start, next(Leave))]
    Come { key: u64, ms: u64 },
    #[step(done)]
    Leave { key: u64, ms: u64 },
}

impl LodgerSteps for Keeper {
    async fn come(&self, step: Come, _: &StepContext) -> StepResult<Come> {
        let Come { key, ms } = step;
        work(key, ms).await;
        Ok(goto_after(Leave { key, ms }, Duration::from_millis(ms)))
    }

    async fn leave(&self, step: Leave, _: &StepContext) -> StepResult<Leave> {
        work(step.key, step.ms).await;
        Ok(done(()))
    }
}

#[durable_job(rate_limit(Slow, by(key)))]
pub async fn drip(_: &Keeper, key: u64) -> Result<(), StepError> {
    work(key, 0).await;
    Ok(())
}

#[durable_job(rate_limit(Split, by(key)))]
pub async fn trickle(_: &Keeper, key: u64) -> Result<(), StepError> {
    work(key, 0).await;
    Ok(())
}
