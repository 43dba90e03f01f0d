//! Nothing waits for the poll: it is a minute away in each of these.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use gen_durable::{Client, RunningWorker, Worker, prelude::*};
use serde::{Deserialize, Serialize};
use suite::Db;

suite::stores! {
    both(flavor = "multi_thread") {
        timeouts_fire_while_every_claim_is_full,
        rows_of_a_busy_key_hide_no_work_and_a_key_released_in_place_wakes_the_next,
        a_signal_right_after_a_start_delays_nothing,
        a_graceful_stop_leaves_no_row_to_its_lease,
        a_dropped_worker_drops_its_steps_and_gives_their_claims_back,
        a_healthy_step_outlives_a_callers_transaction_that_is_longer_than_the_lease,
    }
    postgres {
        a_bounded_wait_ends_in_an_outage_too => "no server, no wire: a call answers in this process",
    }
}

#[derive(Debug, Serialize, Deserialize, Signal)]
pub struct Call {}

#[derive(ConcurrencyKey)]
#[concurrency(key(u64))]
pub struct Desk;

/// Parks with a time-out.
#[durable_fsm(handler(Clerk), queue = "desks", priority = -5)]
pub enum Parker {
    #[step(start, await(Call), timeout(within), done)]
    Linger { within: Duration },
}

/// Takes its time.
#[durable_fsm(handler(Clerk), queue = "desks")]
pub enum Sleeper {
    #[step(start, done)]
    Doze { millis: u64 },
}

/// Has the desk in its first step only, and goes on in place without it.
#[durable_fsm(handler(Clerk), queue = "desks")]
pub enum Visitor {
    #[step(start, concurrency(Desk, by(desk)), next(Leave))]
    Ask { desk: u64 },
    #[step(done)]
    Leave,
}

#[derive(Default, Clone)]
pub struct Clerk {
    seen: Arc<Mutex<Vec<(&'static str, Instant)>>>,
}

impl Clerk {
    fn note(&self, what: &'static str) {
        self.seen.lock().expect("no panic holds it").push((what, Instant::now()));
    }

    fn times(&self, what: &str) -> usize {
        self.seen.lock().expect("no panic holds it").iter().filter(|(w, _)| *w == what).count()
    }
}

impl ParkerSteps for Clerk {
    async fn linger(&self, _: Linger, _: Result<Call, TimedOut>, _: &StepContext) -> StepResult<Linger> {
        self.note("timed out");
        Ok(done(()))
    }
}
impl SleeperSteps for Clerk {
    async fn doze(&self, step: Doze, _: &StepContext) -> StepResult<Doze> {
        self.note("doze");
        tokio::time::sleep(Duration::from_millis(step.millis)).await;
        Ok(done(()))
    }
}
impl VisitorSteps for Clerk {
    async fn ask(&self, _: Ask, _: &StepContext) -> StepResult<Ask> {
        self.note("ask");
        Ok(goto(Leave))
    }
    async fn leave(&self, _: Leave, _: &StepContext) -> StepResult<Leave> {
        tokio::time::sleep(Duration::from_secs(2)).await;
        Ok(done(()))
    }
}

async fn worker(db: &Db, places: usize, lease: Duration) -> (Client, RunningWorker, Clerk) {
    let clerk = Clerk::default();
    let client = Client::options(&db.url).pool_size(6).connect().await.expect("connects");
    let worker = Worker::new(client.clone()).handler(clerk.clone()).leave_unserved().only_these_queues();
    let worker = worker.queue("desks", places).poll(Duration::from_secs(60)).lease(lease);
    (client, worker.start().await.expect("starts"), clerk)
}

const LEASE: Duration = Duration::from_secs(30);

async fn until(what: &str, within: Duration, is: impl Fn() -> bool) {
    let end = Instant::now() + within;
    while !is() {
        assert!(Instant::now() < end, "{what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn timeouts_fire_while_every_claim_is_full(db: Db) {
    let (client, worker, clerk) = worker(&db, 2, LEASE).await;
    client.start_many((0..2_000).map(|_| start(Doze { millis: 10 }))).await.expect("starts");
    until("the backlog runs", Duration::from_secs(10), || clerk.times("doze") > 10).await;
    client.start_many((1..=4).map(|n| start(Linger { within: Duration::from_millis(n * 400) }))).await.expect("starts");
    until("they time out", Duration::from_secs(5), || clerk.times("timed out") == 4).await;
    worker.stop().await;
}

async fn rows_of_a_busy_key_hide_no_work_and_a_key_released_in_place_wakes_the_next(db: Db) {
    let client = Client::options(&db.url).connect().await.expect("connects");
    client.start_many((0..10).map(|_| start(Ask { desk: 1 }))).await.expect("starts");
    client.start_many((0..5).map(|_| start(Doze { millis: 0 }))).await.expect("starts");
    let (_, worker, clerk) = worker(&db, 10, LEASE).await;
    until("free rows behind them", Duration::from_secs(5), || clerk.times("doze") == 5).await;
    // Each leaves for two seconds, without the key: one after the other they would take twenty.
    until("each next one", Duration::from_secs(8), || clerk.times("ask") == 10).await;
    worker.stop().await;
}

async fn a_signal_right_after_a_start_delays_nothing(db: Db) {
    let (_, worker, clerk) = worker(&db, 10, LEASE).await;
    let client = Client::options(&db.url).connect().await.expect("connects");
    for n in 1..=60 {
        let handle = client.start(start(Doze { millis: 0 })).await.expect("starts");
        let spec = crate::claims::signal(handle.id().expect("known"), "call");
        let _ = client.signal_specs(&[spec]).await.expect("answers");
        until("it runs", Duration::from_secs(5), || clerk.times("doze") == n).await;
    }
    worker.stop().await;
}

async fn a_graceful_stop_leaves_no_row_to_its_lease(db: Db) {
    for round in 0..suite::size(60) {
        let (client, worker, _) = worker(&db, 1, LEASE).await;
        client.start_many((0..400).map(|_| start(Doze { millis: 0 }))).await.expect("starts");
        tokio::time::sleep(Duration::from_millis(60 + 7 * round as u64)).await;
        worker.stop().await;
        assert_eq!(db.count("SELECT count(*) FROM gen_durable WHERE status = 'executing'").await, 0, "round {round}");
        client.close().await;
        db.run("DELETE FROM gen_durable").await;
    }
}

async fn a_dropped_worker_drops_its_steps_and_gives_their_claims_back(db: Db) {
    let (client, worker, clerk) = worker(&db, 1, LEASE).await;
    client.start(start(Doze { millis: 60_000 })).await.expect("starts");
    until("it runs", Duration::from_secs(5), || clerk.times("doze") == 1).await;
    drop(worker);
    let end = Instant::now() + Duration::from_secs(5);
    while db.text("SELECT status::text FROM gen_durable").await != "runnable" {
        assert!(Instant::now() < end, "it was not given back");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[cfg(feature = "postgres")]
async fn a_bounded_wait_ends_in_an_outage_too(_: Db) {
    let client = Client::options("postgres://nobody@127.0.0.1:9/none").open().expect("opens");
    let began = Instant::now();
    let waited =
        client.by_id::<Sleeper>(gen_durable::InstanceId::new(1)).wait().timeout(Duration::from_millis(300)).await;
    assert!(matches!(waited, Err(gen_durable::WaitError::Other(e)) if e.is_transient()));
    assert!(began.elapsed() < Duration::from_secs(6), "{:?}", began.elapsed());
}

async fn a_healthy_step_outlives_a_callers_transaction_that_is_longer_than_the_lease(db: Db) {
    let (client, worker, clerk) = worker(&db, 1, Duration::from_secs(2)).await;
    client.start(start(Doze { millis: 6_000 })).await.expect("starts");
    until("it runs", Duration::from_secs(5), || clerk.times("doze") == 1).await;
    let callers = db.hold().await;
    tokio::time::sleep(Duration::from_millis(3_500)).await;
    callers.commit().await;
    let end = Instant::now() + Duration::from_secs(10);
    while db.text("SELECT status::text FROM gen_durable").await != "done" {
        assert!(Instant::now() < end, "it does not end");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!((clerk.times("doze"), worker.stats().reaped_claims(), worker.stats().lost_claims()), (1, 0, 0));
    worker.stop().await;
}
