//! The connection that hears of new work dies, or goes deaf without a word.

use std::time::{Duration, Instant};

use suite::{Db, Oracle, Wire, WorkerOptions, eventually};

use super::{
    client,
    heard::{MARGIN, POLL, insert_until, is_heard, slowest},
    worker,
};

suite::stores! {
    postgres {
        a_listener_that_is_terminated_comes_back_subscribed => "no connection listens",
        a_listener_that_went_deaf_is_replaced_within_bounds => "no connection listens",
    }
}

const LISTENERS: &str = "SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND query ILIKE 'LISTEN %' AND state = 'idle'";

async fn through_a_wire(db: &Db) -> (Wire, WorkerOptions) {
    let wire = Wire::to(db).await;
    let options = worker(db).url(wire.url()).poll(POLL);
    (wire, options)
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
    // A worker that believes that it hears looks half as often.
    assert!(slowest < 2 * POLL + MARGIN, "{slowest:?}");
    is_heard(&db, &client).await;
    Oracle::of(&db).check(&ids).await;
}
