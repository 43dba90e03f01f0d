//! What operators see and say of limits and queues, what outcomes charge, and how a process shares its places.

mod charges;
mod limits;
mod queues;
mod shares;
mod statistics;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use gen_durable::{Client, Error, RunningWorker, Worker, prelude::*};
use suite::{Db, store_options};

pub const LONG: Duration = Duration::from_secs(30);

/// One at once, until somebody says otherwise.
#[derive(ConcurrencyKey)]
#[concurrency(limit = 1, key(u64))]
pub struct Door;

/// One at a time, by the unique index.
#[derive(ConcurrencyKey)]
#[concurrency(key(u64))]
pub struct Lock;

/// Hardly anything.
#[derive(RateLimit)]
#[rate_limit(allowed = 1, per = "1h", burst = 4, key(u64))]
pub struct Slow;

/// Ten a second, twenty at once.
#[derive(RateLimit)]
#[rate_limit(allowed = 10, per = "1s", burst = 20, key(String))]
pub struct Tokens;

/// What no step asks for: only charged.
#[derive(RateLimit)]
#[rate_limit(allowed = 1, per = "1h", burst = 5, key(String, u64))]
pub struct Spent;

/// How many runs of each name are under way, and the most there were; how many ended.
#[derive(Default)]
pub struct Desk {
    seen: Mutex<BTreeMap<&'static str, Seen>>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    pub now: usize,
    pub most: usize,
    pub ended: usize,
}

impl Desk {
    fn change(&self, name: &'static str, change: impl Fn(&mut Seen)) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        change(seen.entry(name).or_default());
        let all = seen.values().map(|s| s.now).sum::<usize>();
        let total = seen.entry("all").or_default();
        total.most = total.most.max(all);
    }

    pub async fn within(&self, name: &'static str, ms: u64) {
        self.change(name, |seen| {
            seen.now += 1;
            seen.most = seen.most.max(seen.now);
        });
        let _leaves = Leaves(self, name);
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }

    pub fn seen(&self, name: &'static str) -> Seen {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).get(name).copied().unwrap_or_default()
    }
}

/// Also a run that is dropped has left.
struct Leaves<'d>(&'d Desk, &'static str);

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        self.0.change(self.1, |seen| {
            seen.now -= 1;
            seen.ended += 1;
        });
    }
}

#[durable_job(concurrency(Door, by(key)))]
pub async fn pass(desk: &Desk, key: u64, ms: u64) -> Result<(), StepError> {
    let _ = key;
    desk.within("pass", ms).await;
    Ok(())
}

#[durable_job(concurrency(Lock, by(key)))]
pub async fn turn(desk: &Desk, key: u64, ms: u64) -> Result<(), StepError> {
    let _ = key;
    desk.within("turn", ms).await;
    Ok(())
}

#[durable_job(rate_limit(Slow, by(key), weight = 2))]
pub async fn drip(desk: &Desk, key: u64) -> Result<(), StepError> {
    let _ = key;
    desk.within("drip", 0).await;
    Ok(())
}

#[durable_job]
pub async fn plain(desk: &Desk, ms: u64) -> Result<(), StepError> {
    desk.within("plain", ms).await;
    Ok(())
}

#[durable_job(queue = "post")]
pub async fn post(desk: &Desk, ms: u64) -> Result<(), StepError> {
    desk.within("post", ms).await;
    Ok(())
}

#[durable_job(queue = "mail")]
pub async fn mail(desk: &Desk, ms: u64) -> Result<(), StepError> {
    desk.within("mail", ms).await;
    Ok(())
}

/// Goes on and on in place; leaves by the side door when it is told to.
#[durable_fsm(handler(Desk), queue = "walk", on_cancel(Aside))]
pub enum Walk {
    #[step(start, next(Pace), done)]
    Pace { left: u64, ms: u64 },
    #[step(done)]
    Aside {},
}

impl From<gen_durable::Cancelled<Walk>> for Aside {
    fn from(_: gen_durable::Cancelled<Walk>) -> Self {
        Self {}
    }
}

impl WalkSteps for Desk {
    async fn pace(&self, step: Pace, _: &StepContext) -> StepResult<Pace> {
        self.within("walk", step.ms).await;
        Ok(match step.left.checked_sub(1) {
            Some(left) => goto(Pace { left, ms: step.ms }),
            None => done(()),
        })
    }

    async fn aside(&self, _: Aside, _: &StepContext) -> StepResult<Aside> {
        self.within("aside", 0).await;
        Ok(done(()))
    }
}

/// Knows what it used only when it has its answer.
#[durable_fsm(handler(Desk))]
pub enum Ask {
    #[step(start, rate_limit(Tokens, by(model)), retry(attempts = 1), done)]
    Question { model: String, used: f64 },
}

impl AskSteps for Desk {
    async fn question(&self, step: Question, _: &StepContext) -> StepResult<Question> {
        self.within("ask", 0).await;
        Ok(done(()).charge::<Tokens>(step.model.as_str(), step.used).charge::<Spent>((step.model, 7), step.used))
    }
}

/// What a worker is told beside its desk.
pub type Tell = fn(Worker) -> Worker;

/// A client, a worker and what its handlers did.
pub struct Work {
    pub client: Client,
    pub desk: Arc<Desk>,
    worker: RunningWorker,
}

impl Work {
    pub async fn on(db: &Db) -> Self {
        Self::told(db, |worker| worker).await.expect("starts")
    }

    pub async fn told(db: &Db, tell: Tell) -> Result<Self, Error> {
        let client = Client::on(store_options(&db.url).open().expect("a store"));
        let desk = Arc::<Desk>::default();
        let worker = Worker::new(client.clone()).shared_handler(Arc::clone(&desk)).leave_unserved();
        // A minute: only what is told counts.
        let worker = tell(worker.poll(Duration::from_secs(60)).without_migration());
        Ok(Self { worker: worker.start().await?, client, desk })
    }

    pub async fn stop(self) {
        self.worker.stop().await;
    }
}

/// How long it takes until this holds.
pub async fn time(what: &str, holds: impl AsyncFnMut() -> bool) -> Duration {
    let began = Instant::now();
    suite::eventually(what, LONG, holds).await;
    began.elapsed()
}
