//! Gates, keys and rate limits: how many run at once, how many start in a span, and that nobody else is held up.

mod gates;
mod rates;
mod weights;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use gen_durable::{Client, Handle, RunningWorker, Startable, Worker, prelude::*};
use suite::{Db, store_options};

/// Four at once, whatever the key.
#[derive(ConcurrencyKey)]
#[concurrency(limit = 4, shards = 2, key(u64))]
pub struct Door;

/// Two for as long as they live.
#[derive(ConcurrencyKey)]
#[concurrency(limit = 2, held)]
pub struct Room;

/// One at a time, by the unique index.
#[derive(ConcurrencyKey)]
#[concurrency(key(u64))]
pub struct Lock;

#[derive(RateLimit)]
#[rate_limit(allowed = 5, per = "60s", burst = 5, key(u64))]
pub struct Slow;

#[derive(RateLimit)]
#[rate_limit(allowed = 20, per = "1s", burst = 2)]
pub struct Quick;

/// How many run now, and the most that ran at once, by key.
#[derive(Default)]
pub struct Hands {
    now: Mutex<HashMap<u64, (u32, u32)>>,
    order: Mutex<Vec<u64>>,
}

impl Hands {
    async fn within(&self, key: u64, ms: u64) {
        let _inside = Inside::new(self, key);
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }

    pub fn most(&self, key: u64) -> u32 {
        self.now.lock().unwrap_or_else(PoisonError::into_inner).get(&key).map_or(0, |(_, most)| *most)
    }

    fn note(&self, n: u64) {
        self.order.lock().unwrap_or_else(PoisonError::into_inner).push(n);
    }

    pub fn order(&self) -> Vec<u64> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Also a run that is dropped has left.
struct Inside<'h>(&'h Hands, u64);

impl<'h> Inside<'h> {
    fn new(hands: &'h Hands, key: u64) -> Self {
        let mut now = hands.now.lock().unwrap_or_else(PoisonError::into_inner);
        let (running, most) = now.entry(key).or_default();
        *running += 1;
        *most = (*most).max(*running);
        Self(hands, key)
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        let mut now = self.0.now.lock().unwrap_or_else(PoisonError::into_inner);
        now.entry(self.1).or_default().0 -= 1;
    }
}

#[durable_job(concurrency(Door, by(key)))]
pub async fn pass(hands: &Hands, key: u64, n: u64, ms: u64) -> Result<u64, StepError> {
    hands.note(n);
    hands.within(key, ms).await;
    Ok(n)
}

#[durable_job(concurrency(Lock, by(key)))]
pub async fn turn(hands: &Hands, key: u64, n: u64, ms: u64) -> Result<u64, StepError> {
    hands.note(n);
    hands.within(key, ms).await;
    Ok(n)
}

#[durable_job(rate_limit(Slow, by(key)))]
pub async fn drip(hands: &Hands, key: u64, n: u64) -> Result<u64, StepError> {
    hands.note(n);
    hands.within(key, 0).await;
    Ok(n)
}

#[durable_job(rate_limit(Quick))]
pub async fn tick(hands: &Hands, n: u64) -> Result<u64, StepError> {
    hands.note(n);
    Ok(n)
}

#[durable_job]
pub async fn plain(hands: &Hands, n: u64) -> Result<u64, StepError> {
    hands.note(n);
    Ok(n)
}

/// A client, a worker and what its handlers did.
pub struct Work {
    pub client: Client,
    pub hands: Arc<Hands>,
    worker: RunningWorker,
}

impl Work {
    pub async fn on(db: &Db) -> Self {
        let client = Client::on(store_options(&db.url).open().expect("a store"));
        let hands = Arc::<Hands>::default();
        let worker =
            Worker::new(client.clone()).shared_handler(Arc::clone(&hands)).leave_unserved().queue("default", 50);
        Self { client, hands, worker: worker.without_migration().start().await.expect("starts") }
    }

    /// Starts them all, in order.
    pub async fn start_all<S: Startable>(&self, starts: impl IntoIterator<Item = S>) -> Vec<Handle<S::Machine>> {
        let started = self.client.start_many(starts).await.expect("starts");
        started.iter().map(|s| self.client.by_id(s.id())).collect()
    }

    pub async fn stop(self) {
        self.worker.stop().await;
    }
}
