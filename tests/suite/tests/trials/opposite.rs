//! Everything at once, in opposite orders.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use gen_durable::{Client, InstanceId, Worker, start};
use gen_durable_runtime::{
    model::admission::{LimitConfig, LimitKind},
    store::{LimitDef, Store},
};
use suite::{Db, Oracle, eventually, is_long};

use crate::{
    client,
    gated::{Come, Keeper, Single, Squeeze, Stroll},
    machines::{Go, Prepare, Rig, Then, Visits},
    trials::{Household, Share},
};

suite::stores! {
    both(flavor = "multi_thread", worker_threads = 2) {
        everything_at_once_in_opposite_orders_locks_nobody_out,
    }
}

/// One of those that work against each other, until the time is up.
async fn again(until: Instant, mut once: impl AsyncFnMut(u64)) {
    for round in 0.. {
        if Instant::now() >= until {
            return;
        }
        once(round).await;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The same keys forwards and backwards: occupied, free, or both while the batch is under way.
fn batch(round: u64, forwards: bool) -> Vec<gen_durable::Start<Visits>> {
    let names: Vec<u64> = (0..30).map(|n| (round / 4 + n) % 60).collect();
    let visit = |name: u64| start(Prepare { name, millis: 0, rounds: 1 });
    if forwards { names.into_iter().map(visit).collect() } else { names.into_iter().rev().map(visit).collect() }
}

async fn starts(client: Client, until: Instant, forwards: bool) -> Vec<InstanceId> {
    let mut all = Vec::new();
    again(until, async |round| {
        let started = client.start_many(batch(round, forwards)).await.expect("starts");
        all.extend(started.iter().map(|s| s.id()));
        for name in if forwards { 0..30 } else { 30..60 } {
            let _ = client.of::<Visits>(name).signal(Go { n: 1 }).await;
        }
    })
    .await;
    all
}

async fn families(client: Client, until: Instant) -> Vec<InstanceId> {
    let mut all = Vec::new();
    again(until, async |round| {
        let (name, chores) = (round % 5, vec![Then::Done; 6]);
        let share = start(Share { name, chores, slice_ms: 0, rounds: 2, seen: vec![] });
        let family = client.start(share).await.expect("starts");
        all.extend(family.id());
        if round % 7 == 0 {
            let _ = client.of::<Household>(name).cancel("enough").await;
        }
    })
    .await;
    all
}

async fn limited(client: Client, until: Instant) -> Vec<InstanceId> {
    let mut all = Vec::new();
    again(until, async |round| {
        let key = round % 3;
        all.extend(client.start(Single::start(key, 1)).await.expect("starts").id());
        all.extend(client.start(Squeeze::start(key, 1)).await.expect("starts").id());
        all.extend(client.start(Stroll::start(key, 1)).await.expect("starts").id());
        all.extend(client.start(start(Come { key, ms: 1 })).await.expect("starts").id());
    })
    .await;
    all
}

/// Two nodes that boot with other limits, and sweeps that are called far too often.
async fn sweeps(store: Arc<dyn Store>, until: Instant, shards: i16) {
    let config = LimitConfig { capacity: 3.0, rate: 0.0, shards };
    let names = ["narrow", "wide", "kept"];
    let limits = names.map(|name| LimitDef { kind: LimitKind::Gate, name: name.into(), config }).to_vec();
    again(until, async |_| {
        let ordered: Vec<LimitDef> = if shards == 1 { limits.clone() } else { limits.iter().rev().cloned().collect() };
        store.define_limits(&ordered, true).await.expect("defines");
        store.heal(LimitKind::Gate, "", 100).await.expect("heals");
        store.reap(1_000).await.expect("reaps");
        store.end_waits(1_000).await.expect("ends waits");
    })
    .await;
}

/// O-66.
async fn everything_at_once_in_opposite_orders_locks_nobody_out(db: Db) {
    let db = db.with_effects().await;
    if db.store.dialect() == "postgres" {
        db.run(
            "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET deadlock_timeout = 100', current_database()); END $$",
        )
        .await;
    }
    let age = Some(Duration::from_millis(200));
    let mut workers = Vec::new();
    for _ in 0..2 {
        let worker =
            Worker::new(client(&db).await).handler(Rig::new(&db.effects_url(), Duration::ZERO)).handler(Keeper);
        let worker = worker.leave_unserved().queue("default", 20).queue("aside", 20).retention(age, age);
        let worker = worker.lease(Duration::from_secs(2)).sweep(Duration::from_millis(20));
        workers.push(worker.without_migration().start().await.expect("starts"));
    }
    let until = Instant::now() + Duration::from_secs(if is_long() { 60 } else { 6 });
    let (one, store) = (client(&db).await, Arc::clone(&db.store));
    let ids = tokio::join!(
        starts(one.clone(), until, true),
        starts(one.clone(), until, false),
        families(one.clone(), until),
        limited(one.clone(), until),
        sweeps(Arc::clone(&store), until, 1),
        sweeps(store, until, 3),
    );
    let ids = [ids.0, ids.1, ids.2, ids.3].concat();
    // Whoever waits for a signal hears it: then everything ends, and what ended goes.
    let left = async || {
        for name in 0..60 {
            let _ = one.of::<Visits>(name).signal(Go { n: 1 }).await;
        }
        db.count("SELECT count(*) FROM gen_durable WHERE status NOT IN ('done', 'failed')").await == 0
    };
    eventually("all end", Duration::from_secs(60), left).await;
    let crashed = "SELECT count(*) FROM gen_durable WHERE crashes > 0 OR errors > 0";
    assert_eq!(db.count(crashed).await, 0, "nothing was counted as an error or a crash");
    println!("{}: {} instances, in opposite orders", db.store.dialect(), ids.len());
    for worker in workers {
        worker.stop().await;
    }
    // Two claims that met at one key, as they may: the second takes it again.
    Oracle::of(&db).expect_in_log("gen_durable_concurrency_active").check(&[]).await;
}
