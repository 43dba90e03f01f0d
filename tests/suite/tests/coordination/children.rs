//! The children of an instance, as anybody sees them.

use std::time::Duration;

use gen_durable::{Child, ChildList, Client, InstanceId, Status, start};
use suite::{Db, store_options};

use crate::{
    Work,
    cancels::{Clan, Found, Nudge},
    machines::{Gun, Split},
};

suite::stores! {
    both(flavor = "multi_thread", worker_threads = 2) {
        children_are_counted_and_listed_as_they_stand,
        children_of_an_older_round_are_seen_when_they_are_asked_for,
        many_children_are_read_in_the_order_of_the_fan_out,
        children_of_another_engine_are_seen_too,
    }
}

const LONG: Duration = Duration::from_secs(60);

async fn all(mut children: ChildList) -> Vec<Child> {
    let mut all = vec![];
    while let Some(child) = children.next().await.expect("reads") {
        all.push(child);
    }
    all
}

/// Pending, done, failed.
async fn counts(children: ChildList) -> [u64; 3] {
    let counts = children.counts().await.expect("counts");
    [counts.pending(), counts.done, counts.failed]
}

async fn children_are_counted_and_listed_as_they_stand(db: Db) {
    let work = Work::on(&db).await;
    let clan = work.client.start(start(Found { depth: 0, width: 3 })).await.expect("starts");
    clan.wait_parked().timeout(LONG).await.expect("parks");
    let young = all(clan.children()).await;
    let seen: Vec<_> = young.iter().map(|c| (c.machine.as_str(), c.status, c.round, c.index)).collect();
    let waits = |index| ("clan", Status::AwaitingSignal, Some(1), Some(index));
    assert_eq!(seen, [waits(0), waits(1), waits(2)]);
    assert_eq!(counts(clan.children()).await, [3, 0, 0]);

    let child = |at: usize| work.client.by_id::<Clan>(young[at].id);
    child(2).signal(Nudge {}).await.expect("delivers");
    child(2).wait().timeout(LONG).await.expect("ends");
    child(1).cancel("lost").await.expect("asks");
    child(1).wait().timeout(LONG).await.expect_err("cancelled");
    assert_eq!(counts(clan.children()).await, [1, 1, 1]);
    let statuses: Vec<_> = all(clan.children()).await.iter().map(|c| c.status).collect();
    assert_eq!(statuses, [Status::AwaitingSignal, Status::Failed, Status::Done]);

    child(0).signal(Nudge {}).await.expect("delivers");
    clan.wait().timeout(LONG).await.expect("ends");
    assert_eq!(counts(work.client.children(clan.id().expect("known"))).await, [0, 2, 1]);
    // A child has none, and whoever was never started.
    assert_eq!(all(child(0).children()).await, []);
    assert_eq!(counts(work.client.children(InstanceId::new(99_999))).await, [0, 0, 0]);
    work.stop().await;
}

async fn children_of_an_older_round_are_seen_when_they_are_asked_for(db: Db) {
    let work = Work::on(&db).await;
    let gun = Gun { pauses: vec![0, 3_600_000], need: 1, odd_fails: false, patience: LONG };
    let race = work.client.start(start(gun)).await.expect("starts");
    race.wait().timeout(LONG).await.expect("ends");
    assert_eq!(counts(race.children()).await, [0, 1, 0], "of the second round");
    assert_eq!(counts(race.children().all_rounds()).await, [1, 2, 0]);
    let places = async |children| all(children).await.into_iter().map(|c| (c.round, c.index)).collect::<Vec<_>>();
    assert_eq!(places(race.children()).await, [(Some(2), Some(0))]);
    let every = [(Some(1), Some(0)), (Some(1), Some(1)), (Some(2), Some(0))];
    assert_eq!(places(race.children().all_rounds()).await, every);
    work.stop().await;
}

async fn many_children_are_read_in_the_order_of_the_fan_out(db: Db) {
    let work = Work::on(&db).await;
    // More than two pages.
    let many = 2_100;
    let split = Split { numbers: (0..many).collect(), odd_fails: true, fails: 0, rounds: 0 };
    let family = work.client.start(start(split)).await.expect("starts");
    family.wait().timeout(LONG).await.expect("ends");
    let all: Vec<_> = all(family.children()).await.into_iter().map(|c| (c.index, c.status)).collect();
    let expected = (0..2_100).map(|at| (Some(at), if at % 2 == 0 { Status::Done } else { Status::Failed }));
    assert!(all.iter().copied().eq(expected), "{all:?}");
    assert_eq!(counts(family.children()).await, [0, many / 2, many / 2]);
    work.stop().await;
}

async fn children_of_another_engine_are_seen_too(db: Db) {
    let client = Client::on(store_options(&db.url).open().expect("a store"));
    db.run("INSERT INTO gen_durable (fsm, step, status, children_pending) VALUES ('m', 'a', 'awaiting_children', 2)")
        .await;
    db.run("INSERT INTO gen_durable (fsm, step, status, parent_id) VALUES ('m', 'a', 'done', 1), ('n', 'a', 'runnable', 1)")
        .await;
    let children = || client.children(InstanceId::new(1));
    assert_eq!(counts(children()).await, [1, 1, 0]);
    let seen: Vec<_> = all(children()).await.into_iter().map(|c| (c.id.get(), c.machine, c.round, c.index)).collect();
    assert_eq!(seen, [(2, "m".into(), None, None), (3, "n".into(), None, None)]);
    assert_eq!(counts(children().all_rounds()).await, [1, 1, 0]);
}
