//! How many start in a span.

use std::time::{Duration, Instant};

use gen_durable_runtime::{
    model::admission::{LimitConfig, LimitKind},
    store::LimitDef,
};
use suite::{Db, eventually};

use crate::{Drip, Plain, Tick, Work};

suite::stores! {
    both(flavor = "multi_thread", worker_threads = 2) {
        a_cold_key_admits_its_burst_and_no_more,
        tokens_come_back_at_their_rate_and_in_order,
        keys_do_not_share_their_tokens,
        a_limit_that_nobody_knows_is_said_and_holds_up_nobody,
        a_raised_limit_counts_at_once_whatever_was_promised,
        counters_of_an_idle_key_go_and_never_grant_a_fresh_burst,
    }
}

const LONG: Duration = Duration::from_secs(30);

async fn a_cold_key_admits_its_burst_and_no_more(db: Db) {
    let (one, two) = (Work::on(&db).await, Work::on(&db).await);
    one.client.start_many((0..100).map(|n| Drip::start(1, n))).await.expect("starts");
    let done = "SELECT count(*) FROM gen_durable WHERE status = 'done'";
    eventually("five start", LONG, async || db.count(done).await >= 5).await;
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert_eq!(db.count(done).await, 5, "5 per 60 s");
    let waiting = "SELECT count(*) FROM gen_durable WHERE blocked_by = 'rate:slow:1' AND status = 'runnable'";
    eventually("the others are set aside", LONG, async || db.count(waiting).await == 95).await;
    one.stop().await;
    two.stop().await;
}

async fn tokens_come_back_at_their_rate_and_in_order(db: Db) {
    let work = Work::on(&db).await;
    let began = Instant::now();
    let all = work.start_all((0..22).map(Tick::start)).await;
    for handle in &all {
        handle.wait().timeout(LONG).await.expect("ends");
    }
    // Two at once, then twenty at 20 a second.
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(980), "too fast: {took:?}");
    assert!(took < Duration::from_secs(6), "too slow: {took:?}");
    // Two that start in the same moment may run in either order.
    let order = work.hands.order();
    let late = order.iter().enumerate().map(|(at, n)| n.abs_diff(at as u64)).max();
    assert!(late <= Some(2), "{order:?}");
    work.stop().await;
}

async fn keys_do_not_share_their_tokens(db: Db) {
    let work = Work::on(&db).await;
    work.start_all((0..30).map(|n| Drip::start(n % 3, n))).await;
    let done = "SELECT count(*) FROM gen_durable WHERE status = 'done'";
    eventually("fifteen start", LONG, async || db.count(done).await == 15).await;
    work.client.start(Plain::start(1)).await.expect("starts").wait().timeout(LONG).await.expect("ends");
    assert_eq!(db.count(done).await, 16);
    work.stop().await;
}

async fn a_limit_that_nobody_knows_is_said_and_holds_up_nobody(db: Db) {
    let work = Work::on(&db).await;
    work.start_all((0..3).map(|n| Plain::start(n).delay(Duration::from_millis(200)))).await;
    db.run("UPDATE gen_durable SET rate_limit = 'elsewhere:1'").await;
    let free = work.client.start(Plain::start(9)).await.expect("starts");
    free.wait().timeout(LONG).await.expect("ends");
    let said = "SELECT count(*) FROM gen_durable WHERE blocked_by = 'limit:elsewhere'";
    eventually("it is said", LONG, async || db.count(said).await == 3).await;
    work.stop().await;
}

async fn a_raised_limit_counts_at_once_whatever_was_promised(db: Db) {
    let work = Work::on(&db).await;
    work.start_all((0..60).map(|n| Drip::start(1, n))).await;
    let waiting = "SELECT count(*) FROM gen_durable WHERE blocked_by = 'rate:slow:1' AND status = 'runnable'";
    eventually("all but five are promised minutes ahead", LONG, async || db.count(waiting).await == 55).await;
    let config = LimitConfig { capacity: 100.0, rate: 1_000.0, shards: 1 };
    let queues = db.store.define_limits(&[LimitDef { kind: LimitKind::Rate, name: "slow".into(), config }], true).await;
    let queues: Vec<String> = queues.expect("sets").into_iter().collect();
    db.store.notify(&queues).await.expect("wakes");
    let late = work.start_all([Drip::start(1, 60)]).await.remove(0);
    late.wait().timeout(LONG).await.expect("ends");
    let done = "SELECT count(*) FROM gen_durable WHERE status = 'done'";
    eventually("all run", LONG, async || db.count(done).await == 61).await;
    work.stop().await;
}

async fn counters_of_an_idle_key_go_and_never_grant_a_fresh_burst(db: Db) {
    let work = Work::on(&db).await;
    let first = work.start_all((0..5).map(|n| Drip::start(1, n))).await;
    for handle in &first {
        handle.wait().timeout(LONG).await.expect("ends");
    }
    let counters = "SELECT count(*) FROM gen_durable_buckets WHERE kind = 'rate'";
    db.store.heal(LimitKind::Rate, "", 100).await.expect("heals");
    assert_eq!(db.count(counters).await, 1, "it is empty: a new one would be full");
    work.start_all([Drip::start(1, 5)]).await;
    let waiting = "SELECT count(*) FROM gen_durable WHERE blocked_by = 'rate:slow:1'";
    eventually("the sixth waits", LONG, async || db.count(waiting).await == 1).await;
    db.run("UPDATE gen_durable_buckets SET available = capacity, promised_at = NULL").await;
    db.store.heal(LimitKind::Rate, "", 100).await.expect("heals");
    assert_eq!(db.count(counters).await, 0);
    work.stop().await;
}
