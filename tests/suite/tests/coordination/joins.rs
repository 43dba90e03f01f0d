//! Children and their joins.

use std::time::Duration;

use gen_durable::{Status, start};
use suite::{Db, nothing_lost, size};

use crate::{
    Work,
    machines::{Gather, Grow, Gun, Seen, Split},
};

suite::stores! {
    both(flavor = "multi_thread", worker_threads = 2) {
        a_join_sees_every_child_once_in_the_order_of_the_fan_out_and_failed_ones_with_their_place,
        a_join_without_children_runs_at_once,
        a_join_sees_the_same_however_often_it_runs,
        a_child_of_one_round_never_counts_for_another,
        a_quorum_wakes_when_it_is_there,
        a_quorum_that_is_out_of_reach_wakes,
        a_join_whose_time_is_up_sees_what_has_ended,
        a_tree_of_joins_comes_together_and_a_child_that_stands_already_is_not_waited_for,
        a_large_fan_out_comes_together,
    }
}

fn split(numbers: impl IntoIterator<Item = u64>) -> Split {
    Split { numbers: numbers.into_iter().collect(), odd_fails: false, fails: 0, rounds: 0 }
}

async fn a_join_sees_every_child_once_in_the_order_of_the_fan_out_and_failed_ones_with_their_place(db: Db) {
    let work = Work::on(&db).await;
    let family = work.client.start(start(Split { odd_fails: true, ..split(0..5) })).await.expect("starts");
    let seen = family.wait().await.expect("ends");
    let odd = |n: u32| Err((n, format!("{n} is odd")));
    let children = vec![Ok(0), odd(1), Ok(4), odd(3), Ok(8)];
    assert_eq!(seen, [Seen { children, counts: (5, 3, 2), complete: true }]);
    nothing_lost(&db, &[family.id().expect("known")]).await;
    work.stop().await;
}

async fn a_join_without_children_runs_at_once(db: Db) {
    let work = Work::on(&db).await;
    let family = work.client.start(start(split([]))).await.expect("starts");
    let seen = family.wait().timeout(Duration::from_secs(5)).await.expect("ends");
    assert_eq!(seen, [Seen { children: vec![], counts: (0, 0, 0), complete: true }]);
    work.stop().await;
}

async fn a_join_sees_the_same_however_often_it_runs(db: Db) {
    let work = Work::on(&db).await;
    let family = work.client.start(start(Split { fails: 3, ..split(0..3) })).await.expect("starts");
    let seen = family.wait().await.expect("ends");
    assert_eq!(seen[0].children, [Ok(0), Ok(2), Ok(4)]);
    let notes = work.hands.notes();
    assert_eq!(notes.len(), 4);
    assert!(notes.iter().all(|note| *note == notes[0]), "{notes:#?}");
    work.stop().await;
}

async fn a_child_of_one_round_never_counts_for_another(db: Db) {
    let work = Work::on(&db).await;
    let family = work.client.start(start(Split { rounds: 2, ..split([1]) })).await.expect("starts");
    let results: Vec<_> = family.wait().await.expect("ends").into_iter().map(|s| (s.children, s.counts)).collect();
    let one = |result| (vec![Ok(result)], (1, 1, 0));
    assert_eq!(results, [one(2), one(202), one(200)]);
    work.stop().await;
}

async fn race(db: &Db, gun: Gun) -> Vec<Seen> {
    let work = Work::on(db).await;
    let race = work.client.start(start(gun)).await.expect("starts");
    let seen = race.wait().timeout(Duration::from_secs(20)).await.expect("ends");
    nothing_lost(db, &[race.id().expect("known")]).await;
    work.stop().await;
    seen
}

const LONG: Duration = Duration::from_secs(60);

/// The late child of the first round ends while the second one waits.
async fn a_quorum_wakes_when_it_is_there(db: Db) {
    let gun = Gun { pauses: vec![0, 300, 0], need: 2, odd_fails: false, patience: LONG };
    let seen = race(&db, gun).await;
    assert_eq!(seen[0], Seen { children: vec![Ok(0), Ok(4)], counts: (3, 2, 0), complete: false });
    assert_eq!(seen[1], Seen { children: vec![Ok(100)], counts: (1, 1, 0), complete: true });
}

async fn a_quorum_that_is_out_of_reach_wakes(db: Db) {
    let gun = Gun { pauses: vec![300, 0, 300, 0], need: 3, odd_fails: true, patience: LONG };
    let seen = race(&db, gun).await;
    let odd = |n: u32| Err((n, format!("{n} is odd")));
    assert_eq!(seen[0], Seen { children: vec![odd(1), odd(3)], counts: (4, 0, 2), complete: false });
}

async fn a_join_whose_time_is_up_sees_what_has_ended(db: Db) {
    let gun = Gun { pauses: vec![0, 900], need: 2, odd_fails: false, patience: Duration::from_millis(400) };
    let seen = race(&db, gun).await;
    assert_eq!(seen[0], Seen { children: vec![Ok(0)], counts: (2, 1, 0), complete: false });
    assert_eq!(seen[1].children, [Ok(100)]);
}

async fn a_tree_of_joins_comes_together_and_a_child_that_stands_already_is_not_waited_for(db: Db) {
    let work = Work::on(&db).await;
    let tree = work.client.start(start(Grow { depth: 3, width: 3 })).await.expect("starts");
    let nodes = tree.wait().timeout(Duration::from_secs(30)).await.expect("ends");
    assert_eq!(nodes, 1 + 3 + 9 + 27);
    nothing_lost(&db, &[tree.id().expect("known")]).await;
    work.stop().await;
}

async fn a_large_fan_out_comes_together(db: Db) {
    let work = Work::on(&db).await;
    let children = u64::try_from(size(20_000)).expect("small");
    let family = work.client.start(start(split(0..children))).await.expect("starts");
    let seen = family.wait().timeout(Duration::from_secs(120)).await.expect("ends");
    assert_eq!(seen[0].counts, (children, children, 0));
    assert_eq!(seen[0].children, (0..children).map(|n| Ok(2 * n)).collect::<Vec<_>>());
    let snapshot = family.show().await.expect("stands");
    assert_eq!((snapshot.status, snapshot.step.as_str()), (Status::Done, "gather"));
    let _ = std::any::type_name::<Gather>();
    work.stop().await;
}
