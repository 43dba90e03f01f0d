//! Keys, gates and held gates while workers are killed: never more than the limit in any moment, and all of it afterwards.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use gen_durable::{Client, InstanceId, start};
use suite::{Db, Oracle, WorkerOptions, eventually, is_long};

use crate::{
    client,
    gated::{Come, Single, Squeeze, Stroll},
    ids,
    kills::Killing,
};

suite::stores! {
    both(flavor = "multi_thread", worker_threads = 2) {
        limits_hold_in_every_moment_under_kills_and_are_used_in_full_afterwards,
    }
}

/// Of each kind two keys.
const KEYS: u64 = 2;

/// How many execute, and how many slots are kept, of each key: one statement, so one moment.
const MOMENT: &str = "SELECT coalesce(string_agg(line, ','), '') FROM (
    SELECT concurrency_key || '=' || count(*) AS line FROM gen_durable
    WHERE status = 'executing' AND concurrency_key IS NOT NULL GROUP BY concurrency_key
    UNION ALL SELECT 'held ' || key || '=' || count(*) FROM gen_durable_held GROUP BY key) l";

/// Keys whose counters say otherwise than their rows.
const UNTRUE: &str = "SELECT count(*) FROM (
    SELECT b.key, sum(b.capacity - b.available + b.owed) AS used FROM gen_durable_buckets b
    WHERE b.kind = 'conc' GROUP BY b.key) k
    WHERE k.used <> CASE WHEN k.key LIKE 'kept:%'
    THEN (SELECT count(*) FROM gen_durable_held h WHERE h.key = k.key)
    ELSE (SELECT count(*) FROM gen_durable g WHERE g.concurrency_key = k.key AND g.status = 'executing') END";

/// Counters below nothing or above their cap.
const BEYOND: &str = "SELECT count(*) FROM gen_durable_buckets
    WHERE available < 0 OR available > capacity OR owed < 0";

fn limit_of(key: &str) -> u64 {
    match key.trim_start_matches("held ").split_once(':').map(|(name, _)| name) {
        Some("alone") => 1,
        Some("narrow" | "kept") => 3,
        Some("wide") => 8,
        _ => panic!("no key of ours: {key}"),
    }
}

/// The most that was seen of each key.
#[derive(Debug, Default)]
struct Seen {
    most: BTreeMap<String, u64>,
    moments: usize,
}

impl Seen {
    async fn look(&mut self, db: &Db) -> BTreeMap<String, u64> {
        let text = db.text(MOMENT).await;
        let number = |line: &str| line.split_once('=').and_then(|(key, n)| Some((key.to_owned(), n.parse().ok()?)));
        let now: BTreeMap<String, u64> = text.split(',').filter_map(number).collect();
        self.moments += 1;
        for (key, n) in &now {
            assert!(*n <= limit_of(key), "{n} of {key} at once: {text}");
            let most = self.most.entry(key.clone()).or_default();
            *most = (*most).max(*n);
        }
        now
    }

    /// Looks each 50 ms, without end.
    async fn keep(&mut self, db: &Db) {
        let mut often = tokio::time::interval(Duration::from_millis(50));
        loop {
            often.tick().await;
            self.look(db).await;
        }
    }
}

/// Some of each key, in turn.
async fn portion(client: &Client, each: u64, ms: u64) -> Vec<InstanceId> {
    let keys = || (0..each * KEYS).map(|n| n % KEYS);
    let mut all = ids(&client.start_many(keys().map(|key| Single::start(key, ms))).await.expect("starts"));
    all.extend(ids(&client.start_many(keys().map(|key| Squeeze::start(key, ms))).await.expect("starts")));
    all.extend(ids(&client.start_many(keys().map(|key| Stroll::start(key, ms))).await.expect("starts")));
    all.extend(ids(&client.start_many(keys().map(|key| start(Come { key, ms }))).await.expect("starts")));
    all
}

/// There is always more to do than may run.
async fn feed(db: &Db, client: &Client, span: Duration) -> Vec<InstanceId> {
    let (began, mut all) = (Instant::now(), vec![]);
    let waiting = "SELECT count(*) FROM gen_durable WHERE status = 'runnable'";
    while began.elapsed() < span {
        if db.count(waiting).await < 60 {
            all.extend(portion(client, 6, 30).await);
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    all
}

/// O-28.
async fn limits_hold_in_every_moment_under_kills_and_are_used_in_full_afterwards(db: Db) {
    let client = client(&db).await;
    let worker = WorkerOptions::new(env!("CARGO_BIN_EXE_suite-limits"), &db);
    let (mut seen, span) = (Seen::default(), Duration::from_secs(if is_long() { 60 } else { 6 }));
    let workers = Killing::of(4, worker.clone(), 200..700).await;
    let all = tokio::select! {
        () = seen.keep(&db) => unreachable!("it has no end"),
        all = feed(&db, &client, span) => all,
    };
    let kills = workers.end().await;
    let _calm = [worker.spawn().await, worker.spawn().await];
    let within = Duration::from_secs(if is_long() { 120 } else { 60 });
    tokio::select! {
        () = seen.keep(&db) => unreachable!("it has no end"),
        // Whoever loses a key's insertion is told so by the server.
        () = Oracle::of(&db).within(within).expect_in_log("gen_durable_concurrency_active").check(&all) => {}
    }
    let whole = whole_again(&db).await;
    let in_full = used_in_full(&db, &client, &mut seen).await;
    assert!(kills >= 5, "{kills} kills: too fast to try anything");
    eprintln!(
        "{}: {} instances, {kills} kills, {} moments, at most {:?}; counters whole after {whole:?}, used in full after {in_full:?}",
        db.store.dialect(),
        all.len(),
        seen.moments,
        seen.most
    );
}

/// Counters follow what runs with the reap that made them differ; the floor under that is a count each 30 s.
async fn whole_again(db: &Db) -> Duration {
    assert_eq!(db.count(BEYOND).await, 0, "counters out of their bounds");
    let kept = "SELECT count(*) FROM gen_durable_held";
    let whole = async || db.count(UNTRUE).await == 0 && db.count(kept).await == 0;
    eventually("counters say what runs: nothing", Duration::from_secs(40), whole).await
}

/// As many as may run at once do, of every key in one moment; the counters agree in each.
async fn used_in_full(db: &Db, client: &Client, seen: &mut Seen) -> Duration {
    let more = portion(client, 10, 1_500).await;
    let full = async || {
        let now = seen.look(db).await;
        assert_eq!(db.count(UNTRUE).await, 0, "counters beside rows: {now:?}");
        // Of a kept key some rest between two steps.
        let is_full = |(key, n): (&String, &u64)| *n == limit_of(key) || key.starts_with("kept:");
        now.len() >= 5 * usize::try_from(KEYS).expect("small") && now.iter().all(is_full)
    };
    let took = eventually("every limit is used in full", Duration::from_secs(20), full).await;
    Oracle::of(db).within(Duration::from_secs(90)).expect_in_log("gen_durable_concurrency_active").check(&more).await;
    assert_eq!(db.count(UNTRUE).await, 0, "and after them nothing is missing");
    took
}
