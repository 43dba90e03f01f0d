//! The first minute after an outage.

use std::time::{Duration, Instant};

use gen_durable::{InstanceId, start};
use suite::{Db, Oracle, eventually, size};

use super::{client, worker};
use crate::machines::{Run, Work};

suite::stores! {
    both {
        sweeps_take_back_everything_in_bounded_pieces_once,
        an_urgent_instance_starts_at_once_after_an_outage,
        rows_that_crashed_before_never_hide_the_work_behind_them,
    }
}

/// Rows of dead workers and waits long past their deadline, in this queue.
async fn outage(db: &Db, queue: &str, dead: usize, overdue: usize) {
    let dead = format!(
        r#"INSERT INTO gen_durable (fsm, step, status, state, queue, locked_by, lease_expires_at)
           SELECT 'work', 'run', 'executing', '{{"millis": 2, "steps": 1}}', '{queue}', 'gone#' || n,
           now() - interval '1 min' FROM generate_series(1, {dead}) n"#
    );
    let overdue = format!(
        r#"INSERT INTO gen_durable (fsm, step, status, state, queue, awaits, await_deadline)
           SELECT 'timed', 'patience', 'awaiting_signal', '{{"within": {{"secs": 1, "nanos": 0}}}}', '{queue}', '{{go}}',
           now() - interval '1 min' FROM generate_series(1, {overdue}) n"#
    );
    for sql in [dead, overdue] {
        db.run(sql).await;
    }
    db.run("ANALYZE").await;
    #[cfg(feature = "postgres")]
    if db.store.dialect() == "postgres" {
        db.run(format!("ALTER DATABASE {} SET statement_timeout = '2s'", db.database().name())).await;
    }
}

/// O-33. The rows stand in a queue that nobody here serves, so that what the sweeps did can be read off.
async fn sweeps_take_back_everything_in_bounded_pieces_once(db: Db) {
    let db = db.with_effects().await;
    let (dead, overdue) = (size(60_000), size(20_000));
    outage(&db, "elsewhere", dead, overdue).await;
    let began = Instant::now();
    let workers = [worker(&db).spawn().await, worker(&db).spawn().await, worker(&db).spawn().await];
    assert!(began.elapsed() < Duration::from_secs(6), "2 s each: {:?}", began.elapsed());
    let open = "SELECT count(*) FROM gen_durable WHERE status <> 'runnable'";
    eventually("all runnable again", Duration::from_secs(60), async || db.count(open).await == 0).await;
    let crashed = "SELECT count(*) FROM gen_durable WHERE fsm = 'work' AND crashes = 1 AND attempt = 0";
    assert_eq!(db.count(crashed).await, i64::try_from(dead).expect("small"), "each counted once");
    let failed = workers.iter().map(|w| w.logged("failed, trying again")).sum::<usize>();
    assert_eq!(failed, 0, "no sweep timed out");
    db.run("DELETE FROM gen_durable").await;
    Oracle::of(&db).check(&[]).await;
}

/// O-33. Most urgent first, whatever came back.
async fn an_urgent_instance_starts_at_once_after_an_outage(db: Db) {
    let db = db.with_effects().await;
    outage(&db, "default", size(60_000), size(20_000)).await;
    let workers = [worker(&db).spawn().await, worker(&db).spawn().await, worker(&db).spawn().await];
    let instance = client(&db).await.start(start(Run { millis: 0, steps: 1 }).priority(-10)).await.expect("starts");
    let began = Instant::now();
    instance.wait().timeout(Duration::from_secs(20)).await.expect("ends");
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    drop(workers);
}

/// O-33. Rows that crashed before run one at a time on each worker; they take the other places from nobody. The poll
/// is seldom and nothing wakes the worker: what it does not look for itself it does not find.
async fn rows_that_crashed_before_never_hide_the_work_behind_them(db: Db) {
    let db = db.with_effects().await;
    db.run(
        r#"INSERT INTO gen_durable (fsm, step, state, crashes, eligible_at)
           SELECT 'work', 'run', '{"millis": 500, "steps": 1}', 1, now() - interval '1 min' FROM generate_series(1, 20)"#,
    )
    .await;
    let client = client(&db).await;
    let behind = client.start_many((0..50).map(|_| start(Run { millis: 10, steps: 1 }))).await.expect("starts");
    let _one = worker(&db).poll(Duration::from_secs(60)).spawn().await;
    let began = Instant::now();
    let ids: Vec<InstanceId> = behind.iter().map(|s| s.id()).collect();
    for id in &ids {
        client.by_id::<Work>(*id).wait().timeout(Duration::from_secs(20)).await.expect("ends");
    }
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    let at_once = "SELECT count(*) FROM gen_durable WHERE crashes > 0 AND status = 'executing'";
    assert!(db.count(at_once).await <= 1, "one at a time");
    Oracle::of(&db).within(Duration::from_secs(30)).check(&ids).await;
    let twice = "SELECT count(*) FROM (SELECT FROM effects GROUP BY instance HAVING count(*) > 1) AS twice";
    assert_eq!(db.count(twice).await, 0, "each ran once");
}
