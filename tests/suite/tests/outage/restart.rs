//! The database goes away for a while.

use std::time::Duration;

use gen_durable::start;
#[cfg(feature = "postgres")]
use local_postgres::{Options, Profile};
use suite::{Cut, Db, Oracle, eventually, is_long};

use super::{client, ids, worker};
use crate::machines::Run;

suite::stores! {
    both {
        an_outage_shorter_than_the_lease_costs_nothing,
    }
    sqlite {
        a_file_held_for_longer_than_the_lease_makes_no_worker_reap_itself => "rows are held there, not the database",
    }
    postgres {
        workers_resume_after_each_restart_of_the_database => "no server that restarts",
        an_outage_longer_than_the_lease_makes_no_worker_reap_itself => "no server that restarts",
        connections_that_are_reset_under_load_cost_no_instance => "no server, no wire: a call answers in this process",
    }
}

const RUNS: &str = "SELECT count(*) FROM effects";

/// O-47. Three times under load, once while a starting worker takes back what the dead held. No worker is restarted.
#[cfg(feature = "postgres")]
async fn workers_resume_after_each_restart_of_the_database(_: Db) {
    let server = Options::new(Profile::Fast).private().expect("a server");
    let db = Db::on(&server).await.with_effects().await;
    let client = client(&db).await;
    let options = worker(&db).concurrency(100).lease(Duration::from_secs(6)).with("SUITE_POOL", 10);
    // What a killed worker held runs one at a time: the third has little.
    let small = options.clone().concurrency(10);
    let mut workers = [options.spawn().await, options.spawn().await, small.spawn().await];
    let started = client.start_many((0..2_000).map(|_| start(Run { millis: 200, steps: 8 }))).await.expect("starts");
    let down = Duration::from_secs(if is_long() { 5 } else { 2 });
    let mut late = None;
    for restart in 0..3 {
        tokio::time::sleep(Duration::from_secs(2)).await;
        if restart == 2 {
            workers[2].kill().await;
            late = Some(small.launch());
        }
        server.stop_immediate().expect("stops");
        tokio::time::sleep(down).await;
        server.start().expect("starts");
        let before = db.count(RUNS).await;
        let resumed = eventually("work resumes", Duration::from_secs(10), async || db.count(RUNS).await > before).await;
        eprintln!("restart {restart}: resumed after {resumed:?}");
    }
    // The worker that met the outage at its start may have given up: it says why, and its supervisor tries again.
    drop(late);
    let _again = options.spawn().await;
    let oracle = ["terminating connection", "the database system is", "canceling"].into_iter();
    let oracle = oracle.fold(Oracle::of(&db).within(Duration::from_secs(90)), Oracle::expect_in_log);
    oracle.check(&ids(&started)).await;
    let done = "SELECT count(*) FROM gen_durable WHERE status = 'done' AND transitions = 8";
    assert_eq!(db.count(done).await, 2_000, "every step was committed exactly once");
    for process in &mut workers[..2] {
        process.terminate();
        assert!(process.exit(Duration::from_secs(10)).await.success(), "it was never restarted");
    }
}

/// O-17. The claim outlives an outage that is shorter than the lease, and so does the work.
async fn an_outage_shorter_than_the_lease_costs_nothing(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let mut cut = Cut::to(&db).await;
    let lease = Duration::from_secs(6);
    let one = worker(&db).url(cut.url()).lease(lease).concurrency(20).spawn().await;
    let rounds = if is_long() { 10 } else { 2 };
    let millis = 3_000 + rounds * 5_000;
    let started = client.start_many((0..20).map(|_| start(Run { millis, steps: 1 }))).await.expect("starts");
    eventually("all run", Duration::from_secs(10), async || db.count(RUNS).await == 20).await;
    // It would take over at once.
    let other = worker(&db).lease(lease).concurrency(20).spawn().await;
    for _ in 0..rounds {
        cut.hold().await;
        tokio::time::sleep(Duration::from_secs(3)).await;
        cut.pass().await;
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
    Oracle::of(&db).check(&ids(&started)).await;
    assert_eq!(db.count(RUNS).await, 20, "no step ran twice");
    let lost = one.logged("claim lost") + other.logged("took back claims");
    assert_eq!(lost, 0, "none was taken or dropped");
}

/// O-17: longer than the lease, but nobody else is there to take over: a worker does not reap its own healthy steps.
/// It sweeps every 20 ms and renews every 500, so that without care the sweep is the first to find the database back.
#[cfg(feature = "postgres")]
async fn an_outage_longer_than_the_lease_makes_no_worker_reap_itself(_: Db) {
    let server = Options::new(Profile::Fast).private().expect("a server");
    let db = Db::on(&server).await.with_effects().await;
    let client = client(&db).await;
    let one = worker(&db).lease(Duration::from_secs(6)).with("SUITE_SWEEP_MS", 20).concurrency(10).spawn().await;
    let started = client.start_many((0..10).map(|_| start(Run { millis: 16_000, steps: 1 }))).await.expect("starts");
    eventually("all run", Duration::from_secs(10), async || db.count(RUNS).await == 10).await;
    server.stop_immediate().expect("stops");
    tokio::time::sleep(Duration::from_secs(8)).await;
    server.start().expect("starts");
    let oracle = ["terminating connection", "the database system is", "canceling"].into_iter();
    oracle.fold(Oracle::of(&db).within(Duration::from_secs(40)), Oracle::expect_in_log).check(&ids(&started)).await;
    assert_eq!(db.count(RUNS).await, 10, "no step ran twice");
    assert_eq!(one.logged("took back claims") + one.logged("claim lost"), 0);
}

/// O-17 on a file: someone else holds it for longer than the lease, and nobody else is there to take over.
#[cfg(feature = "sqlite")]
async fn a_file_held_for_longer_than_the_lease_makes_no_worker_reap_itself(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let one = worker(&db).lease(Duration::from_secs(3)).with("SUITE_SWEEP_MS", 20).concurrency(10).spawn().await;
    let started = client.start_many((0..10).map(|_| start(Run { millis: 9_000, steps: 1 }))).await.expect("starts");
    eventually("all run", Duration::from_secs(10), async || db.count(RUNS).await == 10).await;
    let held = db.hold().await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    held.commit().await;
    Oracle::of(&db).within(Duration::from_secs(40)).check(&ids(&started)).await;
    assert_eq!(db.count(RUNS).await, 10, "no step ran twice");
    assert_eq!(one.logged("took back claims") + one.logged("claim lost"), 0);
}

/// O-47, O-17: connections that break under load are replaced, whatever they were used for.
#[cfg(feature = "postgres")]
async fn connections_that_are_reset_under_load_cost_no_instance(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let wire = suite::Wire::to(&db).await;
    let mut process = worker(&db).url(wire.url()).concurrency(20).spawn().await;
    let started = client.start_many((0..300).map(|_| start(Run { millis: 20, steps: 5 }))).await.expect("starts");
    for _ in 0..10 {
        tokio::time::sleep(Duration::from_millis(150)).await;
        wire.reset();
    }
    Oracle::of(&db).within(Duration::from_secs(60)).check(&ids(&started)).await;
    let done = "SELECT count(*) FROM gen_durable WHERE status = 'done' AND transitions = 5";
    assert_eq!(db.count(done).await, 300);
    process.terminate();
    assert!(process.exit(Duration::from_secs(10)).await.success());
}
