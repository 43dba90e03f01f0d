//! Children that fail, in every way there is: their parent wakes once, and learns of each.

use std::time::Duration;

use gen_durable::{Client, Filter, Handle, Status, Worker, start};
use suite::{Db, eventually, nothing_lost};

use crate::{
    client,
    machines::{Rig, Then},
    trials::{Household, Seen, Share},
    worker,
};

suite::stores! {
    both {
        a_parent_whose_children_all_fail_wakes_once_and_sees_why,
        a_parent_whose_last_child_fails_wakes_once_and_sees_why,
        a_parent_whose_child_kills_its_processes_wakes_once_and_sees_why,
        a_parent_whose_children_were_cancelled_wakes_once_and_sees_why,
        a_parent_whose_child_cannot_be_read_wakes_once_and_sees_why,
        a_parent_whose_children_nobody_knows_for_a_while_waits_for_them,
    }
}

const LIMIT: Duration = Duration::from_secs(60);

async fn household(client: &Client, chores: Vec<Then>, slice_ms: u64) -> Handle<Household> {
    let share = Share { name: 1, chores, slice_ms, rounds: 1, seen: vec![] };
    client.start(start(share)).await.expect("starts")
}

/// It joined once; those that failed say why, the others are there with their results.
async fn joins_once(db: &Db, household: &Handle<Household>, failed: &[(u32, &str)], children: u64) {
    let seen = household.wait().timeout(LIMIT).await.expect("it wakes");
    let [Seen { counts, sum, failed: reasons }] = &seen[..] else { panic!("one round: {seen:?}") };
    let no = failed.len() as u64;
    assert_eq!(*counts, (children, children - no, no), "{seen:?}");
    let gone: u64 = failed.iter().map(|(index, _)| u64::from(*index)).sum();
    assert_eq!(*sum, (0..children).sum::<u64>() - gone);
    assert_eq!(reasons.len(), failed.len());
    for ((index, reason), (at, says)) in reasons.iter().zip(failed) {
        assert_eq!(index, at);
        assert!(reason.contains(says), "{index}: {reason}");
    }
    let joins = "SELECT count(*) FROM gen_durable_history WHERE from_step = 'gather'";
    assert_eq!(db.count(joins).await, 1, "it joined once");
    nothing_lost(db, &[household.id().expect("known")]).await;
}

/// O-24: by an error, by a panic, by a panic that is no text.
async fn a_parent_whose_children_all_fail_wakes_once_and_sees_why(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let _process = worker(&db).with("SUITE_QUEUE", "aside").spawn().await;
    let ways = [Then::Error, Then::Panic, Then::PanicAny, Then::Index, Then::Joined];
    let household = household(&client, [ways, ways].concat(), 0).await;
    let says = ["told to err", "panicked: x", "panicked with a value that is no text", "panicked", "panicked"];
    let all: Vec<(u32, &str)> = (0..).zip([says, says].concat()).collect();
    joins_once(&db, &household, &all, 10).await;
}

/// O-24: the others ended long before.
async fn a_parent_whose_last_child_fails_wakes_once_and_sees_why(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let _process = worker(&db).with("SUITE_QUEUE", "aside").spawn().await;
    let mut chores = vec![Then::Done; 10];
    chores[4] = Then::Error;
    let household = household(&client, chores, 400).await;
    joins_once(&db, &household, &[(4, "told to err")], 10).await;
    let last = "SELECT count(*) FROM gen_durable WHERE parent_id IS NOT NULL
        AND updated_at > (SELECT updated_at FROM gen_durable WHERE status = 'failed')";
    assert_eq!(db.count(last).await, 0, "it was the last to end");
}

/// O-24: at its cap of crashes; its neighbours run again.
async fn a_parent_whose_child_kills_its_processes_wakes_once_and_sees_why(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let worker = worker(&db).with("SUITE_QUEUE", "aside");
    let (one, two) = (worker.clone().supervise().await, worker.supervise().await);
    let mut chores = vec![Then::Done; 10];
    chores[7] = Then::Abort;
    let household = household(&client, chores, 0).await;
    joins_once(&db, &household, &[(7, "crashed 2 times")], 10).await;
    assert_eq!(one.deaths() + two.deaths(), 2);
    one.stop().await;
    two.stop().await;
}

/// A worker in this process, that serves both machines or the parents alone.
async fn running(db: &Db, chores: bool) -> gen_durable::RunningWorker {
    let rig = Rig::new(&db.effects_url(), Duration::ZERO);
    let worker = Worker::new(client(db).await).queue("aside", 10).drain(Duration::from_secs(1)).leave_unserved();
    let worker = if chores { worker.handler(rig) } else { worker.serve::<Household, _>(rig) };
    worker.start().await.expect("starts")
}

/// Waits until all children stand, and nobody has run any.
async fn all_stand(db: &Db, client: &Client) -> Vec<gen_durable::InstanceId> {
    let filter = || Filter::default().machine("chore").status(Status::Runnable);
    eventually("its children are there", LIMIT, async || db.count("SELECT count(*) FROM gen_durable").await == 4).await;
    client.list(filter()).await.expect("lists").iter().rev().map(|child| child.id).collect()
}

/// O-24 and its kind.
async fn a_parent_whose_children_were_cancelled_wakes_once_and_sees_why(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let parents = running(&db, false).await;
    let household = household(&client, vec![Then::Done; 3], 0).await;
    let children = all_stand(&db, &client).await;
    for child in &children[..2] {
        client.cancel(&gen_durable::Target::Id(*child), "no need").await.expect("asks");
    }
    let all = running(&db, true).await;
    joins_once(&db, &household, &[(0, "cancelled: no need"), (1, "cancelled: no need")], 3).await;
    parents.stop().await;
    all.stop().await;
}

/// O-24 and its kind: what stands on its row is no state of its step.
async fn a_parent_whose_child_cannot_be_read_wakes_once_and_sees_why(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let parents = running(&db, false).await;
    let household = household(&client, vec![Then::Done; 3], 0).await;
    let children = all_stand(&db, &client).await;
    db.run(format!("UPDATE gen_durable SET state = '[1]' WHERE id = {}", children[1])).await;
    let all = running(&db, true).await;
    joins_once(&db, &household, &[(1, "does not decode")], 3).await;
    parents.stop().await;
    all.stop().await;
}

/// O-24, O-27: whoever knows them comes later.
async fn a_parent_whose_children_nobody_knows_for_a_while_waits_for_them(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let parents = running(&db, false).await;
    let household = household(&client, vec![Then::Done; 3], 0).await;
    let children = all_stand(&db, &client).await;
    tokio::time::sleep(Duration::from_secs(if suite::is_long() { 5 } else { 1 })).await;
    assert_eq!(household.show().await.expect("stands").status, Status::AwaitingChildren);
    for child in &children {
        let child = client.show(&gen_durable::Target::Id(*child)).await.expect("stands");
        assert_eq!((child.status, child.attempt, child.crashes), (Status::Runnable, 0, 0), "left as it is");
    }
    let all = running(&db, true).await;
    joins_once(&db, &household, &[], 3).await;
    parents.stop().await;
    all.stop().await;
}
