//! Thousands of waits whose time is up, one after the other.

use std::time::Duration;

use gen_durable::start;
use jiff::{SignedDuration, Timestamp};
use suite::{Db, Oracle, eventually, is_long, size};

use crate::{
    client, ids,
    trials::{At, Within},
    worker,
};

suite::stores! {
    both(flavor = "multi_thread", worker_threads = 2) {
        serial_deadlines_of_ten_thousand_parked_fire_within_100_ms_and_none_early,
    }
}

/// The promise, and what a busy machine may add to the slowest of a hundred.
const WITHIN: i64 = 100_000;
const MARGIN: i64 = 400_000;

/// By the database's clock, in microseconds of the epoch: when each began to wait, when its step ran, when that was durable.
const TIMES: &str = "SELECT string_agg(g.id || ' ' || CAST(extract(epoch FROM g.inserted_at) * 1000000 AS bigint)
      || ' ' || CAST(extract(epoch FROM h.started_at) * 1000000 AS bigint)
      || ' ' || CAST(extract(epoch FROM h.committed_at) * 1000000 AS bigint), ',')
    FROM gen_durable g JOIN gen_durable_history h ON h.instance_id = g.id";

/// What is late, in order, and which of them stands at each of these places.
fn places(mut late: Vec<i64>) -> [i64; 3] {
    late.sort_unstable();
    [late.len() / 2, late.len() * 99 / 100, late.len() - 1].map(|at| late[at])
}

async fn serial_deadlines_of_ten_thousand_parked_fire_within_100_ms_and_none_early(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let waits = size(10_000);
    let (first, last) = if is_long() { (8_000, 28_000) } else { (3_000, 5_000) };
    let _worker = worker(&db).concurrency(50).spawn().await;
    let each = (Duration::from_millis(last) - Duration::from_millis(first)).as_micros() / waits as u128;
    let micros = |n: usize| u64::try_from(each * n as u128).expect("seconds");
    let after = |n: usize| Duration::from_millis(first) + Duration::from_micros(micros(n));
    let begin = Timestamp::now();
    let at = |n| begin + SignedDuration::try_from(after(n)).expect("small");
    // Every other one for so long, and until a moment.
    let spans = client.start_many((0..waits).step_by(2).map(|n| start(Within { within: after(n) })));
    let moments = client.start_many((1..waits).step_by(2).map(|n| start(At { at: at(n) })));
    let (spans, moments) = (ids(&spans.await.expect("starts")), ids(&moments.await.expect("starts")));
    let all = i64::try_from(waits).expect("small");
    let parked = "SELECT count(*) FROM gen_durable WHERE status = 'awaiting_signal'";
    assert_eq!(db.count(parked).await, all, "all are parked");
    assert!(Timestamp::now() < at(0), "before the first is up");
    // Whoever counts them takes time from those that are counted.
    tokio::time::sleep(Duration::from_millis(last)).await;
    let done = "SELECT count(*) FROM gen_durable WHERE status = 'done' AND result = 'true'";
    eventually("all have timed out", Duration::from_secs(20), async || db.count(done).await == all).await;
    let times = db.text(TIMES).await;
    let (mut ran, mut durable) = (vec![], vec![]);
    for line in times.split(',') {
        let numbers: Vec<i64> = line.split(' ').map(|n| n.parse().expect("a number")).collect();
        let [id, began, started, committed] = numbers[..] else { panic!("{line}") };
        let nth = |ids: &[gen_durable::InstanceId]| ids.iter().position(|known| known.get() == id);
        let deadline = match (nth(&spans), nth(&moments)) {
            (Some(n), _) => began + i64::try_from(after(2 * n).as_micros()).expect("small"),
            (None, Some(n)) => at(2 * n + 1).as_microsecond(),
            (None, None) => panic!("{id} is none of these"),
        };
        assert!(started >= deadline, "{id} fired {} µs early", deadline - started);
        ran.push(started - deadline);
        durable.push(committed - deadline);
    }
    let (ran, durable) = (places(ran), places(durable));
    eprintln!(
        "{}: {waits} deadlines within {} s: late by {ran:?} µs as their steps ran, {durable:?} as that was durable \
         (median, of a hundred the slowest, slowest)",
        db.store.dialect(),
        (last - first) / 1_000
    );
    assert!(ran[0] < WITHIN, "half of them within the promise: {ran:?}");
    assert!(ran[1] < WITHIN + MARGIN, "of a hundred the slowest: {ran:?}");
    Oracle::of(&db).check(&[spans, moments].concat()).await;
}
