//! Workers that have nothing to do.

use std::time::{Duration, Instant};

use gen_durable::{Client, RunningWorker, prelude::*};
use suite::{Db, is_long, size};

use super::{
    client,
    machines::{Rig, Run},
};

suite::stores! {
    postgres {
        idle_workers_ask_seldom_and_write_nothing => "what a file costs is measured by processor time: files, idle",
    }
}

const ROWS: &str = "INSERT INTO gen_durable (fsm, step, status, queue, eligible_at, awaits)
    SELECT 'work', 'run', status::durable_status, 'q' || n % 10, now() + interval '30 d', awaits
    FROM generate_series(1, {rows}) n,
      (VALUES ('runnable', NULL), ('awaiting_signal', ARRAY['go'])) AS v(status, awaits)";

const COST: &str =
    "SELECT coalesce(sum(s.calls), 0)::bigint FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
    WHERE d.datname = current_database() AND s.query NOT LIKE '%pg_stat_statements%'";
const WAL: &str =
    "SELECT coalesce(sum(s.wal_bytes), 0)::bigint FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
    WHERE d.datname = current_database()";

async fn idle(db: &Db) -> RunningWorker {
    let client = Client::options(&db.url).connect().await.expect("connects");
    let worker = Worker::new(client).handler(Rig::new(&db.url, Duration::ZERO)).leave_unserved();
    let worker = (0..10).fold(worker, |worker, n| worker.queue(format!("q{n}"), 5));
    worker.start().await.expect("starts")
}

/// O-63. Three workers with ten queues and more, beside thousands of rows that are not due.
async fn idle_workers_ask_seldom_and_write_nothing(db: Db) {
    let db = db.with_effects().await;
    db.run("CREATE EXTENSION IF NOT EXISTS pg_stat_statements").await;
    db.run(ROWS.replace("{rows}", &size(100_000).to_string())).await;
    let workers = [idle(&db).await, idle(&db).await, idle(&db).await];
    tokio::time::sleep(Duration::from_secs(6)).await;
    let (before, written) = (db.count(COST).await, db.count(WAL).await);
    let span = if is_long() { 20 } else { 10 };
    tokio::time::sleep(Duration::from_secs(span)).await;
    let (calls, wal) = (db.count(COST).await - before, db.count(WAL).await - written);
    println!("three idle workers: {calls} statements in {span} s, {wal} bytes of log");
    assert!(calls <= 3 * 2 * i64::try_from(span).expect("small"), "{calls} statements in {span} s");
    assert_eq!(wal, 0, "nothing is written");
    let began = Instant::now();
    let first = client(&db).await.start(start(Run { millis: 0, steps: 1 }).queue("q3")).await.expect("starts");
    first.wait().timeout(Duration::from_secs(5)).await.expect("ends");
    assert!(began.elapsed() < Duration::from_millis(500), "{:?}", began.elapsed());
    for worker in workers {
        worker.stop().await;
    }
}
