//! The connection that hears of new work dies, or goes deaf without a word.

use std::time::{Duration, Instant};

use gen_durable::{Client, InstanceId, start};
use suite::{Db, Oracle, Wire, WorkerOptions, eventually};

use super::{client, worker};
use crate::machines::Run;

suite::stores! {
    postgres {
        a_listener_that_is_terminated_comes_back_subscribed => "no connection listens",
        a_listener_that_went_deaf_is_replaced_within_bounds => "no connection listens",
        an_idle_worker_hears_of_work_long_before_its_poll => "no connection listens",
    }
}

/// The floor under lost wake-ups, and what a busy machine may add.
const POLL: Duration = Duration::from_secs(2);
const MARGIN: Duration = Duration::from_secs(1);
/// A wake-up that is heard.
const HEARD: Duration = Duration::from_millis(700);

const LISTENERS: &str = "SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND query ILIKE 'LISTEN %' AND state = 'idle'";

async fn through_a_wire(db: &Db) -> (Wire, WorkerOptions) {
    let wire = Wire::to(db).await;
    let options = worker(db).url(wire.url()).poll(POLL);
    (wire, options)
}

/// Starts an instance each 150 ms until `enough`.
async fn insert_until(client: &Client, within: Duration, enough: impl AsyncFn() -> bool) -> Vec<InstanceId> {
    let (began, mut ids) = (Instant::now(), Vec::new());
    while !enough().await {
        assert!(began.elapsed() < within, "not within {within:?}");
        ids.extend(client.start(start(Run { millis: 0, steps: 1 })).await.expect("starts").id());
        tokio::time::sleep(Duration::from_millis(150)).await;
    }
    ids
}

/// The longest an instance stood before its step began, in seconds.
async fn slowest(db: &Db, ids: &[InstanceId]) -> Duration {
    let all = async || {
        let run = "SELECT count(DISTINCT instance) FROM effects WHERE instance = ANY ($1)";
        usize::try_from(db.count_of(run, ids).await).expect("a count") == ids.len()
    };
    eventually("all ran", POLL + MARGIN, all).await;
    let sql = "SELECT max(extract(epoch FROM e.at - g.inserted_at))::float8 FROM effects e
               JOIN gen_durable g ON g.id = e.instance WHERE g.id = ANY ($1)";
    Duration::from_secs_f64(db.number_of(sql, ids).await.max(0.0))
}

/// Six starts, each on an idle worker.
async fn is_heard(db: &Db, client: &Client) {
    let began = Instant::now();
    let ids = insert_until(client, Duration::from_secs(10), async || began.elapsed() > Duration::from_secs(1)).await;
    let slowest = slowest(db, &ids).await;
    assert!(slowest < HEARD, "{slowest:?}");
}

/// O-48.
#[cfg(feature = "postgres")]
async fn a_listener_that_is_terminated_comes_back_subscribed(db: Db) {
    let db = db.with_effects().await;
    let (_wire, options) = through_a_wire(&db).await;
    let (_process, client) = (options.spawn().await, client(&db).await);
    eventually("it listens", Duration::from_secs(5), async || db.count(LISTENERS).await == 1).await;
    is_heard(&db, &client).await;
    let terminate = format!("SELECT pg_terminate_backend(pid) FROM ({}) l", LISTENERS.replace("count(*)", "pid"));
    db.run(terminate).await;
    let began = Instant::now();
    let back = async || began.elapsed() > Duration::from_secs(1) && db.count(LISTENERS).await == 1;
    let ids = insert_until(&client, Duration::from_secs(5), back).await;
    let slowest = slowest(&db, &ids).await;
    assert!(slowest < POLL + MARGIN, "{slowest:?}");
    is_heard(&db, &client).await;
    Oracle::of(&db).expect_in_log("terminating connection").check(&ids).await;
}

/// O-48. Nothing says that the socket is dead: the listener finds out by calling itself, after 10 s and 5 s more.
#[cfg(feature = "postgres")]
async fn a_listener_that_went_deaf_is_replaced_within_bounds(db: Db) {
    let db = db.with_effects().await;
    let (wire, options) = through_a_wire(&db).await;
    let (process, client) = (options.spawn().await, client(&db).await);
    eventually("it listens", Duration::from_secs(5), async || db.count(LISTENERS).await == 1).await;
    assert_eq!(wire.hold_where("LISTEN "), 1, "the listener, and nobody else");
    let found_out = async || process.logged("deaf") == 1 && db.count(LISTENERS).await == 2;
    let ids = insert_until(&client, Duration::from_secs(20), found_out).await;
    let slowest = slowest(&db, &ids).await;
    assert!(slowest < POLL + MARGIN, "{slowest:?}");
    is_heard(&db, &client).await;
    Oracle::of(&db).check(&ids).await;
}

/// O-48, O-62: what another process starts is heard at once, and so is what a waiting row is sent.
#[cfg(feature = "postgres")]
async fn an_idle_worker_hears_of_work_long_before_its_poll(db: Db) {
    let db = db.with_effects().await;
    let _process = worker(&db).poll(Duration::from_secs(60)).spawn().await;
    let client = client(&db).await;
    eventually("it listens", Duration::from_secs(5), async || db.count(LISTENERS).await == 1).await;
    is_heard(&db, &client).await;
}
