//! Rate limits, met cold by many workers at once.

use std::time::{Duration, Instant};

use gen_durable::{Client, InstanceId};
use gen_durable_runtime::{
    model::admission::{LimitConfig, LimitKind},
    store::LimitDef,
};
use suite::{Db, WorkerOptions, eventually, is_long, nothing_lost};

use crate::{
    client,
    gated::{Drip, Trickle},
    ids,
};

suite::stores! {
    both(flavor = "multi_thread", worker_threads = 2) {
        of_eight_cold_workers_exactly_a_burst_starts_and_none_is_lost,
    }
}

/// A minute's worth.
const SLOW: i64 = 5;
const SPLIT: i64 = 8;

fn started(machine: &str) -> String {
    format!("SELECT count(*) FROM gen_durable WHERE fsm = '{machine}' AND status IN ('executing', 'done')")
}

/// What those in line are promised beside 12 s for each: the refill of the limit.
const OFF: &str = "SELECT (extract(epoch FROM max(eligible_at) - min(eligible_at)) - 12 * (count(*) - 1))::float8
    FROM gen_durable WHERE blocked_by = 'rate:slow:1'";

/// Looks each 50 ms, and lets idle counters go each 200 ms, which must grant nobody a fresh burst: not who comes new either.
async fn look_on(db: &Db, client: &Client, began: Instant, span: Duration) -> Vec<InstanceId> {
    let mut more = vec![];
    let (end, drips, trickles) = (Instant::now() + span, started("drip"), started("trickle"));
    for round in 0_u32.. {
        let (slow, split) = (db.count(&*drips).await, db.count(&*trickles).await);
        // Counted after the look, from before the first worker was launched: never less than what time has brought.
        let millis = i64::try_from(began.elapsed().as_millis()).expect("small");
        let most = |burst: i64| burst + burst * millis / 60_000;
        assert!(slow <= most(SLOW) && split <= most(SPLIT), "{slow} and {split} after {millis} ms");
        if round % 4 == 0 {
            db.store.heal(LimitKind::Rate, "", 100).await.expect("heals");
        }
        if round % 20 == 0 {
            more.extend(start(client, 2).await);
        }
        if Instant::now() > end {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    more
}

/// So many under each limit.
async fn start(client: &Client, each: usize) -> Vec<InstanceId> {
    let mut all = ids(&client.start_many((0..each).map(|_| Drip::start(1))).await.expect("starts"));
    all.extend(ids(&client.start_many((0..each).map(|_| Trickle::start(1))).await.expect("starts")));
    all
}

/// O-29.
async fn of_eight_cold_workers_exactly_a_burst_starts_and_none_is_lost(db: Db) {
    let client = client(&db).await;
    let mut all = start(&client, 100).await;
    let (worker, began) = (WorkerOptions::new(env!("CARGO_BIN_EXE_suite-limits"), &db), Instant::now());
    let workers: Vec<_> = (0..8).map(|_| worker.launch()).collect();
    let (drips, trickles) = (started("drip"), started("trickle"));
    let burst = async || db.count(&*drips).await >= SLOW && db.count(&*trickles).await >= SPLIT;
    let took = eventually("a burst of each starts", Duration::from_secs(40), burst).await;
    all.extend(look_on(&db, &client, began, Duration::from_secs(if is_long() { 62 } else { 3 })).await);
    let many = i64::try_from(all.len()).expect("small");
    let later = db.count(&*drips).await;
    assert!(later >= if is_long() { 2 * SLOW } else { SLOW }, "{later} after a minute");
    let waiting = "SELECT count(*) FROM gen_durable WHERE blocked_by IN ('rate:slow:1', 'rate:split:1')";
    eventually("the others stand in line", Duration::from_secs(10), async || {
        db.count(waiting).await + db.count(&*drips).await + db.count(&*trickles).await == many
    })
    .await;
    let off = db.number(OFF).await;
    assert!(off.abs() < 1.0, "{off} s beside 12 s for each");
    raise(&db).await;
    nothing_lost(&db, &all).await;
    assert_eq!(db.count("SELECT count(*) FROM gen_durable_history").await, many, "each ran once");
    eprintln!("{}: a burst of each after {took:?}; {later} drips in the window", db.store.dialect());
    drop(workers);
}

/// An operator opens both.
async fn raise(db: &Db) {
    let config = LimitConfig { capacity: 1_000.0, rate: 1_000.0, shards: 1 };
    let wide = ["slow", "split"].map(|name| LimitDef { kind: LimitKind::Rate, name: name.into(), config });
    let queues = db.store.define_limits(&wide, true).await.expect("sets");
    db.store.notify(&queues.into_iter().collect::<Vec<_>>()).await.expect("wakes");
}
