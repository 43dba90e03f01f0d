//! Rows that no live worker knows.

use std::time::Duration;

use gen_durable::Reason;
use gen_durable_runtime::store::Known;
use suite::{Db, eventually, nothing_lost, size};

use crate::{Foreign, Plain, client, foreign_hands, hands};

suite::stores! {
    both(flavor = "multi_thread", worker_threads = 2) {
        rows_of_unknown_code_are_set_aside_and_wake_in_order_when_a_worker_comes,
        rows_that_another_live_worker_knows_are_left_where_they_are,
        a_few_rows_of_unknown_code_are_left_where_they_are,
        what_was_set_aside_while_its_worker_came_is_found_by_its_next_look,
    }
}

const LONG: Duration = Duration::from_secs(30);
const ASIDE: &str = "SELECT count(*) FROM gen_durable WHERE blocked_by LIKE 'code:foreign:1:%' AND due_at IS NOT NULL";

async fn rows_of_unknown_code_are_set_aside_and_wake_in_order_when_a_worker_comes(db: Db) {
    let client = client(&db);
    let many = size(5_000).max(2_500) as u64;
    let strangers = client.start_many((0..many).map(|n| Foreign::start(n).priority(-5))).await.expect("starts");
    let worker = hands(&client, "default", 10).await;
    let all = i64::try_from(many).expect("small");
    eventually("all are set aside", LONG, async || db.count(ASIDE).await == all).await;
    let free = client.start(Plain::start(0)).await.expect("starts");
    free.wait().timeout(LONG).await.expect("ends");
    let one = client.by_id::<Foreign>(strangers[0].id());
    assert!(
        matches!(one.why().await.expect("tells").as_slice(), [Reason::NoWorker { machine, .. }] if machine == "foreign")
    );
    // Asked to end while nobody knows it: it ends when somebody does.
    let last = client.by_id::<Foreign>(strangers[strangers.len() - 1].id());
    last.cancel("not needed").await.expect("asks");
    let other = foreign_hands(&client, "default").await;
    eventually("all are awake", LONG, async || db.count(ASIDE).await == 0).await;
    let ids: Vec<_> = strangers.iter().map(|s| s.id()).collect();
    nothing_lost(&db, &ids).await;
    let cancelled = "SELECT count(*) FROM gen_durable WHERE fsm = 'foreign' AND status = 'failed'";
    assert_eq!(db.count(cancelled).await, 1);
    other.stop().await;
    worker.stop().await;
}

async fn rows_that_another_live_worker_knows_are_left_where_they_are(db: Db) {
    let client = client(&db);
    let other = foreign_hands(&client, "elsewhere").await;
    let there = async || client.workers().await.expect("reads").len() == 1;
    eventually("the other worker is there", LONG, there).await;
    client.start_many((0..200).map(Foreign::start)).await.expect("starts");
    let worker = hands(&client, "default", 10).await;
    // Some looks at the head of the queue.
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(db.count(ASIDE).await, 0);
    other.stop().await;
    eventually("all are set aside", LONG, async || db.count(ASIDE).await == 200).await;
    worker.stop().await;
}

async fn a_few_rows_of_unknown_code_are_left_where_they_are(db: Db) {
    let client = client(&db);
    client.start_many((0..49).map(Foreign::start)).await.expect("starts");
    let worker = hands(&client, "default", 10).await;
    let known = db.store.strangers("default", &Known::default(), 1_000).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!((known.expect("reads").len(), db.count(ASIDE).await), (49, 0));
    worker.stop().await;
}

/// A look that began before a worker said that it knows them may end after that worker has looked for them.
async fn what_was_set_aside_while_its_worker_came_is_found_by_its_next_look(db: Db) {
    let client = client(&db);
    client.start_many((0..60).map(Foreign::start)).await.expect("starts");
    let seen = db.store.strangers("default", &Known::default(), 1_000).await.expect("reads");
    let other = foreign_hands(&client, "elsewhere").await;
    let there = async || client.workers().await.expect("reads").len() == 1;
    eventually("the other worker is there", LONG, there).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(db.store.strangers("default", &Known::default(), 1_000).await.expect("reads"), []);
    assert_eq!(db.store.set_strangers_aside(&seen).await.expect("sets aside"), 60);
    assert_eq!(db.count(ASIDE).await, 60);
    // Its claims tell it to look: they meet others that it does not know.
    client.start_many((0..60).map(|_| Plain::start(0).queue("elsewhere"))).await.expect("starts");
    eventually("its next look finds them", Duration::from_secs(10), async || db.count(ASIDE).await == 0).await;
    other.stop().await;
}
