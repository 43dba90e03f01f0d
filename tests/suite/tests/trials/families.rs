//! Parents and children, while workers are killed, and while all children end at once.

use std::time::{Duration, Instant};

use gen_durable::{Client, InstanceId, start};
use suite::{Db, Oracle, is_long, size};

use crate::{
    all_done, client, ids,
    kills::Killing,
    machines::Then,
    trials::{Household, Seen, Share},
    worker,
};

suite::stores! {
    both(flavor = "multi_thread", worker_threads = 2) {
        children_that_end_at_once_on_three_workers_wake_their_parent_once,
        children_that_end_at_once_and_are_committed_one_by_one_wake_their_parent_once,
        a_parent_killed_around_its_fan_out_has_each_child_once_in_each_round,
    }
}

fn parent(name: usize, children: usize, slice_ms: u64, rounds: u32) -> gen_durable::Start<Household> {
    start(Share { name: name as u64, chores: vec![Then::Done; children], slice_ms, rounds, seen: vec![] })
}

/// Each parent joined each of its rounds once, and saw each child of it, once.
async fn each_joined_once(db: &Db, client: &Client, parents: &[InstanceId], children: u64, rounds: u32) {
    let seen = Seen { counts: (children, children, 0), sum: (0..children).sum(), failed: vec![] };
    for id in parents {
        let ended = client.by_id::<Household>(*id).wait().timeout(Duration::from_secs(5)).await.expect("it has ended");
        assert_eq!(ended, vec![seen.clone(); rounds as usize], "{id}");
    }
    let all = i64::try_from(parents.len()).expect("small") * i64::from(rounds);
    let of_each = format!(
        "SELECT count(*) FROM (SELECT parent_id, parent_round FROM gen_durable WHERE parent_id IS NOT NULL
         GROUP BY parent_id, parent_round HAVING count(*) = {children} AND count(DISTINCT child_index) = {children}) f"
    );
    assert_eq!(db.count(of_each).await, all, "each round has each child once");
    let families = "SELECT count(*) FROM (SELECT DISTINCT parent_id, parent_round FROM gen_durable
        WHERE parent_id IS NOT NULL) f";
    assert_eq!(db.count(families).await, all, "and nobody has others");
    let joins = "SELECT count(*) FROM gen_durable_history WHERE from_step = 'gather' AND outcome <> 'retry'";
    assert_eq!(db.count(joins).await, all, "each was joined once");
    Oracle::of(db).check(parents).await;
}

/// O-25: eight children each, in two queues, that end in one moment of each slice of 40 ms.
async fn ends_at_once(db: Db, batch: u32) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let one = worker(&db).with("SUITE_QUEUE", "aside").concurrency(40).with("SUITE_BATCH", batch);
    let _three = [one.spawn().await, one.spawn().await, one.spawn().await];
    let began = Instant::now();
    let parents = client.start_many((0..size(500)).map(|name| parent(name, 8, 40, 1))).await.expect("starts");
    let parents = ids(&parents);
    let all = parents.len();
    all_done(&db, "household", all, Duration::from_secs(if is_long() { 300 } else { 60 })).await;
    eprintln!("{}: {all} parents of 8, {batch} a batch, in {:?}", db.store.dialect(), began.elapsed());
    each_joined_once(&db, &client, &parents, 8, 1).await;
}

/// O-25.
async fn children_that_end_at_once_on_three_workers_wake_their_parent_once(db: Db) {
    ends_at_once(db, 1_000).await;
}

/// O-25: without batches every commit meets the others at the parent's lock.
async fn children_that_end_at_once_and_are_committed_one_by_one_wake_their_parent_once(db: Db) {
    ends_at_once(db, 1).await;
}

/// The wire loses the answers to fan-outs: to their statement, and to their COMMIT.
#[cfg(feature = "postgres")]
async fn cut_fan_outs(wire: &suite::Wire) {
    // Their state stands in the statement that inserts them, and nowhere else.
    for text in ["\"slice_ms\":20}", "COMMIT"].into_iter().cycle() {
        wire.lose_answers_to(text, 1);
        tokio::time::sleep(Duration::from_millis(40)).await;
        // Not the one of every boot, when no worker is left that commits.
        wire.lose_answers_to(text, 0);
        tokio::time::sleep(Duration::from_millis(80)).await;
    }
}

/// One parent begins after the other, and all of them end meanwhile.
async fn go_on(db: &Db, parents: usize) -> Vec<InstanceId> {
    let (client, mut ids) = (client(db).await, vec![]);
    for name in 0..parents {
        ids.extend(client.start(parent(name, 5, 20, 3)).await.expect("starts").id());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    all_done(db, "household", parents, Duration::from_secs(if is_long() { 120 } else { 40 })).await;
    ids
}

/// As [`go_on`]; answers with the kills and the answers lost as well.
async fn go_on_under_fire(db: &Db, parents: usize) -> (Vec<InstanceId>, usize, usize) {
    let (every, worker) = (100..700, worker(db).with("SUITE_QUEUE", "aside"));
    #[cfg(feature = "postgres")]
    if db.store.dialect() == "postgres" {
        let wire = suite::Wire::to(db).await;
        let workers = Killing::begin(worker.url(wire.url()), every).await;
        let ids = tokio::select! {
            () = cut_fan_outs(&wire) => unreachable!("it has no end"),
            ids = go_on(db, parents) => ids,
        };
        return (ids, workers.end().await, wire.losses());
    }
    let workers = Killing::begin(worker, every).await;
    (go_on(db, parents).await, workers.end().await, 0)
}

/// O-26: five children a round, three rounds.
async fn a_parent_killed_around_its_fan_out_has_each_child_once_in_each_round(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let began = Instant::now();
    let (parents, kills, losses) = go_on_under_fire(&db, size(200)).await;
    eprintln!(
        "{}: {} parents of 5, three rounds, in {:?}; {kills} kills, {losses} answers lost",
        db.store.dialect(),
        parents.len(),
        began.elapsed()
    );
    assert!(kills >= 2, "{kills} kills: too fast to try anything");
    assert!(losses >= 2 || db.store.dialect() != "postgres", "{losses} answers lost");
    each_joined_once(&db, &client, &parents, 5, 3).await;
}
