//! O-40: retention keeps up, beside live work.

use std::time::{Duration, Instant};

use gen_durable::{Client, Worker};
use suite::{Db, eventually, size, store_options};

use crate::{
    DAY,
    annotations::{Hands, Plain},
    fill,
};

suite::stores! {
    both(flavor = "multi_thread", worker_threads = 2) {
        hundreds_of_thousands_go_beside_live_work_and_nothing_live_goes,
        two_workers_that_delete_beside_each_other_take_each_row_once,
    }
}

/// Done and failed ones, with signals and history; two workers.
async fn hundreds_of_thousands_go_beside_live_work_and_nothing_live_goes(db: Db) {
    let half = size(500_000) / 2;
    fill(&db, "plain", "done", half, 9).await;
    fill(&db, "plain", "failed", half, 8).await;
    db.run(
        "INSERT INTO signals (target_id, name) SELECT id, 's' FROM gen_durable WHERE status = 'failed' AND id % 2 = 0",
    )
    .await;
    db.run(
        "INSERT INTO gen_durable_history (instance_id, visit, from_step, outcome, attempt, started_at, committed_at)
         SELECT id, 0, 'run', 'done', 0, now(), now() FROM gen_durable WHERE status = 'done'",
    )
    .await;
    fill(&db, "plain", "awaiting_signal", 1_000, 9).await;
    let client = Client::on(store_options(&db.url).open().expect("a store"));
    let worker = async || {
        let worker = Worker::new(client.clone()).handler(Hands).leave_unserved().without_migration();
        worker.retention(Some(DAY), Some(DAY)).start().await.expect("starts")
    };
    let (one, two) = (worker().await, worker().await);
    let old = async || {
        db.count("SELECT count(*) FROM gen_durable WHERE status IN ('done', 'failed') AND updated_at < now() - interval '1 h'").await
    };
    let (mut live, mut took, began) = (0, vec![], Instant::now());
    while old().await > 0 {
        for _ in 0..20 {
            let started = Instant::now();
            client.start(Plain::start(1)).await.expect("starts");
            took.push(started.elapsed());
            live += 1;
        }
        assert!(
            began.elapsed() < Duration::from_secs(if suite::is_long() { 600 } else { 120 }),
            "{} left",
            old().await
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    took.sort_unstable();
    let (p95, last) = (took[took.len() * 95 / 100], took[took.len() - 1]);
    println!(
        "{} rows in {:?}, beside {live} starts, 95 % within {p95:?}, all within {last:?}",
        2 * half,
        began.elapsed()
    );
    let ended = async || db.count("SELECT count(*) FROM gen_durable WHERE status = 'done'").await == live;
    eventually("the live ones ended", Duration::from_secs(60), ended).await;
    assert_eq!(db.count("SELECT count(*) FROM gen_durable WHERE status = 'awaiting_signal'").await, 1_000);
    assert_eq!(db.count("SELECT count(*) FROM signals").await, 0);
    assert_eq!(db.count("SELECT count(*) FROM gen_durable_history WHERE visit = 0").await, live, "each its own line");
    one.stop().await;
    two.stop().await;
}

async fn two_workers_that_delete_beside_each_other_take_each_row_once(db: Db) {
    fill(&db, "m", "done", 5_000, 8).await;
    let other = store_options(&db.url).open().expect("a store");
    let of_m = crate::of_m();
    let pass = async |store: &dyn gen_durable_runtime::store::Store| {
        let mut cursor = gen_durable_runtime::model::Cursor::new(100);
        let mut gone = 0;
        loop {
            let purge = gen_durable_runtime::store::Purge {
                age: 7 * DAY,
                ended: &of_m,
                from: cursor.from,
                look: cursor.look,
                limit: 100,
            };
            let purged = store.purge(&purge).await.expect("never refused");
            gone += purged.gone;
            if !cursor.advance(100, &purged) {
                return gone;
            }
        }
    };
    let (one, two) = tokio::join!(pass(&*db.store), pass(&*other));
    let rest = pass(&*db.store).await;
    assert_eq!(one + two + rest, 5_000, "{one}, {two}, {rest}");
    assert_eq!(db.count("SELECT count(*) FROM gen_durable").await, 0);
    other.close().await.expect("closes");
}
