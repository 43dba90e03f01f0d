//! Workers that are told to stop.

use std::time::{Duration, Instant};

use gen_durable::{InstanceId, Started, start};
use suite::{Db, Oracle, eventually, nothing_lost};

use super::{client, worker};
use crate::machines::Run;

suite::stores! {
    both {
        a_stopping_worker_ends_short_steps_and_gives_long_ones_back_at_once,
        a_second_sigterm_does_not_wait_for_running_steps,
        an_idle_worker_stops_at_once,
        leases_are_renewed_while_a_worker_drains,
    }
    postgres {
        outcomes_in_the_pipe_are_committed_before_the_end => "no server, no wire: a call answers in this process",
    }
    sqlite {
        outcomes_in_line_for_the_file_are_committed_before_the_end => "rows are held there, not the database",
    }
}

const RUNS: &str = "SELECT count(*) FROM effects";
const DONE: &str = "SELECT count(*) FROM gen_durable WHERE status = 'done'";

fn ids(started: &[Started]) -> Vec<InstanceId> {
    started.iter().map(|s| s.id()).collect()
}

/// O-49. Five steps of 1 s and five of 60 s run, twenty more wait behind them; the drain time is 3 s.
async fn a_stopping_worker_ends_short_steps_and_gives_long_ones_back_at_once(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let long_lease = Duration::from_secs(600);
    let mut one = worker(&db).lease(long_lease).drain(Duration::from_secs(3)).spawn().await;
    let running = [1_000, 1_000, 1_000, 1_000, 1_000, 60_000, 60_000, 60_000, 60_000, 60_000];
    let running = client.start_many(running.map(|millis| start(Run { millis, steps: 1 }))).await.expect("starts");
    eventually("ten run", Duration::from_secs(5), async || db.count(RUNS).await == 10).await;
    let waiting = client.start_many((0..20).map(|_| start(Run { millis: 10, steps: 1 }))).await.expect("starts");
    let _two = worker(&db).lease(long_lease).spawn().await;
    let began = Instant::now();
    one.terminate();
    let behind =
        async || db.count_of("SELECT count(*) FROM effects WHERE instance = ANY ($1)", &ids(&waiting)).await == 20;
    eventually("what waited runs on the other", Duration::from_secs(2), behind).await;
    assert!(one.exit(Duration::from_secs(10)).await.success());
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(2_900) && took < Duration::from_millis(5_000), "3 s and a little: {took:?}");
    assert_eq!(one.logged("gives its claim back"), 5);
    // The released rows run on the other worker long before their lease ends; nothing was counted against them.
    eventually("the long ones run again", Duration::from_secs(3), async || db.count(RUNS).await == 35).await;
    assert_eq!(db.count(DONE).await, 25);
    assert_eq!(db.count("SELECT count(*) FROM gen_durable WHERE attempt > 0 OR crashes > 0").await, 0);
    db.run("UPDATE gen_durable SET status = 'failed', lease_expires_at = NULL WHERE status = 'executing'").await;
    nothing_lost(&db, &ids(&running)).await;
}

/// O-49, in haste.
async fn a_second_sigterm_does_not_wait_for_running_steps(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let mut process = worker(&db).drain(Duration::from_secs(300)).spawn().await;
    let running = client.start_many((0..10).map(|_| start(Run { millis: 60_000, steps: 1 }))).await.expect("starts");
    eventually("ten run", Duration::from_secs(5), async || db.count(RUNS).await == 10).await;
    process.terminate();
    tokio::time::sleep(Duration::from_millis(300)).await;
    let began = Instant::now();
    process.terminate();
    assert!(process.exit(Duration::from_secs(5)).await.success());
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    let given_back = "SELECT count(*) FROM gen_durable WHERE status = 'runnable' AND attempt = 0 AND crashes = 0";
    assert_eq!(db.count(given_back).await, i64::try_from(running.len()).expect("small"));
}

/// O-49: an idle worker stops at once.
async fn an_idle_worker_stops_at_once(db: Db) {
    let db = db.with_effects().await;
    let mut process = worker(&db).spawn().await;
    let began = Instant::now();
    process.terminate();
    assert!(process.exit(Duration::from_secs(5)).await.success());
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
}

/// O-50. A hundred steps end while the worker stops, each answer of the database takes half a second.
#[cfg(feature = "postgres")]
async fn outcomes_in_the_pipe_are_committed_before_the_end(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let wire = suite::Wire::to(&db).await;
    let options = worker(&db).url(wire.url()).concurrency(100).drain(Duration::from_secs(20));
    let mut process = options.spawn().await;
    let started = client.start_many((0..100).map(|_| start(Run { millis: 1_000, steps: 1 }))).await.expect("starts");
    eventually("a hundred run", Duration::from_secs(10), async || db.count(RUNS).await == 100).await;
    wire.delay(Duration::from_millis(500));
    // The steps end 1 s after they began; the end comes in their midst.
    tokio::time::sleep(Duration::from_millis(700)).await;
    process.terminate();
    assert!(process.exit(Duration::from_secs(20)).await.success(), "a clean exit");
    assert_eq!(db.count(DONE).await, 100, "every step that ended is in the database");
    assert_eq!(db.count(RUNS).await, 100, "once");
    assert_eq!(process.logged("gives its claim back") + process.logged("panicked"), 0);
    Oracle::of(&db).check(&ids(&started)).await;
}

/// O-50, on a file: someone else holds it from before the steps end until after the worker was told to.
#[cfg(feature = "sqlite")]
async fn outcomes_in_line_for_the_file_are_committed_before_the_end(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let mut process = worker(&db).concurrency(100).drain(Duration::from_secs(20)).spawn().await;
    let started = client.start_many((0..100).map(|_| start(Run { millis: 1_500, steps: 1 }))).await.expect("starts");
    eventually("a hundred run", Duration::from_secs(10), async || db.count(RUNS).await == 100).await;
    let held = db.hold().await;
    process.terminate();
    // The lease is 2 s; what ended is not written.
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    assert_eq!(db.count(DONE).await, 0);
    held.commit().await;
    assert!(process.exit(Duration::from_secs(20)).await.success(), "a clean exit");
    assert_eq!(db.count(DONE).await, 100, "every step that ended is in the file");
    assert_eq!(db.count(RUNS).await, 100, "once");
    assert_eq!(process.logged("gives its claim back") + process.logged("panicked"), 0);
    Oracle::of(&db).check(&ids(&started)).await;
}

/// O-50: the leases are renewed until the last commit, however slow.
async fn leases_are_renewed_while_a_worker_drains(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let mut one = worker(&db).drain(Duration::from_secs(20)).spawn().await;
    let slow = client.start(start(Run { millis: 5_000, steps: 1 })).await.expect("starts");
    eventually("it runs", Duration::from_secs(5), async || db.count(RUNS).await == 1).await;
    let _two = worker(&db).spawn().await;
    one.terminate();
    assert!(one.exit(Duration::from_secs(15)).await.success());
    slow.wait().timeout(Duration::from_secs(1)).await.expect("it ended");
    assert_eq!(db.count(RUNS).await, 1, "the other worker never took it");
    nothing_lost(&db, &[slow.id().expect("known")]).await;
}
