//! Starts and signals in a caller's own transaction.

use std::time::{Duration, Instant};

use gen_durable::{Client, prelude::*};
use suite::{Db, WorkerOptions, eventually, is_long, nothing_lost};

use super::{Name, Named, client, worker_on};
use crate::machines::{Go, Patience, Run, Timed};

suite::stores! {
    both {
        a_start_in_a_transaction_begins_with_its_commit_by_wake_up,
        a_start_in_a_transaction_is_heard_by_another_process_with_its_commit,
        many_starts_and_signals_in_a_transaction_are_there_with_its_commit_or_not_at_all,
        a_start_in_a_transaction_that_rolls_back_never_was,
        a_start_in_a_savepoint_that_rolls_back_never_was,
        a_signal_in_a_transaction_is_heard_with_its_commit,
    }
    postgres {
        signals_in_a_transaction_lock_their_targets_in_order => "an open transaction that writes has the whole file",
        a_start_in_a_transaction_begins_with_its_commit_by_poll => "a file has no pooler that takes the wake-ups away",
        a_key_held_by_an_open_transaction_makes_only_its_own_start_wait => "an open transaction that writes has the whole file",
    }
}

const RUNS: &str = "SELECT count(*) FROM effects";

/// O-11, by one transport: not before the commit, soon after.
async fn started_with_the_commit(db: Db, heard: bool) {
    let db = db.with_effects().await;
    db.run("CREATE TABLE orders (n int)").await;
    let engine = Client::options(&db.url).pool_size(5).transaction_pooler(!heard).connect().await.expect("connects");
    let poll = if heard { Duration::from_secs(60) } else { Duration::from_millis(200) };
    let worker = worker_on(engine, &db.effects_url(), poll).await;
    let client = client(&db).await;
    let mut tx = db.begin().await;
    tx.run("INSERT INTO orders VALUES (7)").await;
    let run = client.in_transaction(tx.connection()).start(start(Run { millis: 0, steps: 1 })).await.expect("starts");
    assert!(run.is_new());
    tokio::time::sleep(Duration::from_secs(if is_long() { 3 } else { 1 })).await;
    assert_eq!(db.count(RUNS).await, 0, "never before the commit");
    tx.commit().await;
    let began = Instant::now();
    run.wait().timeout(Duration::from_secs(5)).await.expect("ends");
    // A poll of 200 ms or a wake-up, and what a busy machine may add.
    assert!(began.elapsed() < Duration::from_millis(900), "{:?}", began.elapsed());
    assert_eq!((db.count(RUNS).await, db.count("SELECT count(*) FROM orders").await), (1, 1));
    nothing_lost(&db, &[run.id().expect("known")]).await;
    worker.stop().await;
}

/// O-11.
async fn a_start_in_a_transaction_begins_with_its_commit_by_wake_up(db: Db) {
    started_with_the_commit(db, true).await;
}

/// O-11.
#[cfg(feature = "postgres")]
async fn a_start_in_a_transaction_begins_with_its_commit_by_poll(db: Db) {
    started_with_the_commit(db, false).await;
}

/// O-11: the worker is another process, and its poll is a minute away.
async fn a_start_in_a_transaction_is_heard_by_another_process_with_its_commit(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let options = WorkerOptions::new(env!("CARGO_BIN_EXE_suite-worker"), &db).poll(Duration::from_secs(60));
    let _process = options.spawn().await;
    db.heard().await;
    let mut tx = db.begin().await;
    let run = client.in_transaction(tx.connection()).start(start(Run { millis: 0, steps: 1 })).await.expect("starts");
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(db.count(RUNS).await, 0, "never before the commit");
    tx.commit().await;
    let began = Instant::now();
    run.wait().timeout(Duration::from_secs(20)).await.expect("ends");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}: not by its poll", began.elapsed());
    assert_eq!(db.count(RUNS).await, 1);
}

/// O-11 and its kind: batches of them.
async fn many_starts_and_signals_in_a_transaction_are_there_with_its_commit_or_not_at_all(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let worker = super::worker(&db.url, &db.effects_url()).await;
    let patience = || start(Patience { within: Duration::from_secs(60) });
    let timed = client.start_many((0..50).map(|_| patience())).await.expect("starts");
    let go = || timed.iter().map(|timed| client.by_id::<Timed>(timed.id()).signal(Go { n: 1 }));
    for commits in [false, true] {
        let mut tx = db.begin().await;
        let runs = (0..50).map(|_| start(Run { millis: 0, steps: 1 }));
        client.in_transaction(tx.connection()).start_many(runs).await.expect("starts");
        client.in_transaction(tx.connection()).signal_many(go()).await.expect("delivers");
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert_eq!(db.count(RUNS).await, 0);
        if commits {
            tx.commit().await;
        } else {
            tx.rollback().await;
            assert_eq!(db.count("SELECT count(*) FROM gen_durable").await, 50);
            assert_eq!(db.count("SELECT count(*) FROM signals").await, 0);
        }
    }
    let done = "SELECT count(*) FROM gen_durable WHERE status = 'done'";
    eventually("all end", Duration::from_secs(10), async || db.count(done).await == 100).await;
    assert_eq!(db.count(RUNS).await, 100);
    worker.stop().await;
}

/// Who waits for the first target has not locked the second: two that signal the same ones never wait for each other.
#[cfg(feature = "postgres")]
async fn signals_in_a_transaction_lock_their_targets_in_order(db: Db) {
    let client = client(&db).await;
    let patience = || start(Patience { within: Duration::from_secs(60) });
    let timed = client.start_many([patience(), patience()]).await.expect("starts");
    let [first, second] = [timed[0].id(), timed[1].id()];
    let mut holder = db.begin().await;
    holder.run(format!("SELECT FROM gen_durable WHERE id = {first} FOR UPDATE")).await;
    let mut tx = db.begin().await;
    let sending = tokio::spawn(async move {
        let signals = [second, first].map(|id| client.by_id::<Timed>(id).signal(Go { n: 1 }));
        let delivered = client.in_transaction(tx.connection()).signal_many(signals).await;
        tx.commit().await;
        delivered
    });
    let waiting =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    eventually("it waits", Duration::from_secs(5), async || db.count(waiting).await == 1).await;
    let free = format!("SELECT count(*) FROM (SELECT FROM gen_durable WHERE id = {second} FOR UPDATE SKIP LOCKED) g");
    assert_eq!(db.count(free).await, 1, "the second is free");
    holder.commit().await;
    assert_eq!(sending.await.expect("no panic").expect("delivers").len(), 2);
    assert_eq!(db.count("SELECT count(*) FROM signals").await, 2);
}

/// O-11.
async fn a_start_in_a_transaction_that_rolls_back_never_was(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let worker = super::worker(&db.url, &db.effects_url()).await;
    let name = || start(Name { name: "rolled".into() });
    let mut tx = db.begin().await;
    assert!(client.in_transaction(tx.connection()).start(name()).await.expect("starts").is_new());
    tx.rollback().await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(db.count("SELECT count(*) FROM gen_durable").await, 0);
    assert!(client.start(name()).await.expect("starts").is_new(), "its key is free");
    worker.stop().await;
}

/// O-11.
async fn a_start_in_a_savepoint_that_rolls_back_never_was(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let worker = super::worker(&db.url, &db.effects_url()).await;
    let name = |name: &str| start(Name { name: name.into() });
    let mut tx = db.begin().await;
    let kept = client.in_transaction(tx.connection()).start(name("kept")).await.expect("starts");
    tx.run("SAVEPOINT within").await;
    assert!(client.in_transaction(tx.connection()).start(name("gone")).await.expect("starts").is_new());
    tx.run("ROLLBACK TO SAVEPOINT within").await;
    let again = client.in_transaction(tx.connection()).start(name("kept")).await.expect("answers");
    assert_eq!((again.is_new(), again.id()), (false, kept.id()), "it sees its own rows");
    tx.commit().await;
    kept.wait().timeout(Duration::from_secs(5)).await.expect("ends");
    assert_eq!(db.count("SELECT count(*) FROM gen_durable").await, 1);
    assert!(client.of::<Named>("gone".to_owned()).show().await.expect_err("never was").is_not_found());
    worker.stop().await;
}

/// O-11, O-23: a signal counts with the commit; a refused one leaves the transaction usable.
async fn a_signal_in_a_transaction_is_heard_with_its_commit(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let worker = super::worker(&db.url, &db.effects_url()).await;
    let timed = client.start(start(Patience { within: Duration::from_secs(60) })).await.expect("starts");
    let mut tx = db.begin().await;
    client.in_transaction(tx.connection()).signal(timed.signal(Go { n: 1 })).await.expect("delivers");
    tx.rollback().await;
    assert_eq!(db.count("SELECT count(*) FROM signals").await, 0, "nothing left behind");
    let mut tx = db.begin().await;
    let nobody = client.by_id::<Timed>(gen_durable::InstanceId::new(4_711)).signal(Go { n: 1 });
    assert!(client.in_transaction(tx.connection()).signal(nobody).await.expect_err("nobody").is_no_target());
    client.in_transaction(tx.connection()).signal(timed.signal(Go { n: 1 })).await.expect("delivers");
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(db.count(RUNS).await, 0, "not before the commit");
    tx.commit().await;
    assert!(timed.wait().timeout(Duration::from_secs(5)).await.expect("ends"), "heard");
    let quiet = async || db.count("SELECT count(*) FROM signals").await == 0;
    eventually("the inbox is empty", Duration::from_secs(1), quiet).await;
    worker.stop().await;
}

/// O-11: two callers with the same keys in opposite orders are put in order, not against each other.
#[cfg(feature = "postgres")]
async fn a_key_held_by_an_open_transaction_makes_only_its_own_start_wait(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let name = |name: &str| start(Name { name: name.into() });
    let mut tx = db.begin().await;
    client.in_transaction(tx.connection()).start(name("held")).await.expect("starts");
    let other = client.start(name("free")).await.expect("starts at once");
    assert!(other.is_new());
    let waiting = tokio::spawn({
        let client = client.clone();
        async move { client.start(start(Name { name: "held".into() })).await }
    });
    let blocked =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    eventually("it waits", Duration::from_secs(5), async || db.count(blocked).await == 1).await;
    tx.commit().await;
    let answer = waiting.await.expect("no panic").expect("answers");
    assert!(!answer.is_new(), "the first came first");
}
