//! The last children of one parent, and a parent that someone else holds.

use std::{sync::Arc, time::Duration};

use gen_durable_runtime::model::{Claim, Committed, Effects, Json, Transition, Verdict};
use suite::{Db, entry, start, store_options};

use crate::{
    begin, claim, commit, counts, done, fail, family, fan_out, goto, insist, join, keyed, outcome, paused::Paused,
    signal, status, waits_for,
};

suite::stores! {
    both(flavor = "multi_thread", worker_threads = 2) {
        two_workers_that_end_the_last_two_children_at_once_wake_their_parent_once,
    }
    both {
        the_last_child_that_ends_while_the_commit_of_its_sibling_is_under_way_wakes_their_parent,
        a_quorum_is_judged_by_the_children_that_were_inserted,
        a_quorum_counts_those_of_a_batch_together_and_no_more_once_it_is_there,
        a_signal_to_the_parent_that_the_same_outcome_tells_is_kept_and_wakes_it_once,
        children_that_another_engine_started_are_counted_beside_ours,
        a_child_that_goes_on_beside_one_that_ends_does_not_count,
    }
    postgres {
        a_parent_held_by_someone_else_makes_only_its_childs_commit_busy => "a file has no row locks",
    }
}

type Ends = fn(&Claim) -> Transition;

async fn two_workers_that_end_the_last_two_children_at_once_wake_their_parent_once(db: Db) {
    let other = store_options(&db.url).open().expect("a store");
    for _ in 0..suite::size(60) {
        let (parent, children) = family(&db, 3, join(None, None)).await;
        assert!(commit(&db, &[done(&children[0])]).await.wakes.is_empty());
        let (one, two) = ([done(&children[1])], [fail(&children[2])]);
        let (one, two) = tokio::join!(insist(&*db.store, &one), insist(&*other, &two));
        let woken = one.iter().chain(&two).filter(|c| c.wakes.contains("default")).count();
        assert_eq!((woken, status(&db, parent.id).await.as_str()), (1, "runnable"));
        assert_eq!(waits_for(&db, parent.id).await, (0, 2));
        assert_eq!(counts(&db, &parent).await, (3, 2, 1));
        db.run("DELETE FROM gen_durable").await;
    }
    other.close().await.expect("closes");
}

/// In either order, each by its result or its failure.
async fn the_last_child_that_ends_while_the_commit_of_its_sibling_is_under_way_wakes_their_parent(db: Db) {
    let other = store_options(&db.url).open().expect("a store");
    for (first, second) in [(0, 1), (1, 0)] {
        for ends in [[done as Ends, done], [done, fail], [fail, done], [fail, fail]] {
            let (parent, c) = family(&db, 2, join(None, None)).await;
            let under_way = Paused::begin(&db, vec![ends[0](&c[first])]).await;
            let (last, store) = ([ends[1](&c[second])], Arc::clone(&other));
            let ending = tokio::spawn(async move { insist(&*store, &last).await });
            if db.store.dialect() == "postgres" {
                // The sibling's commit holds the parent: this one is turned away, and comes again.
                let again = [ends[1](&c[second])];
                assert_eq!(commit(&db, &again).await, [Committed::Busy]);
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
            assert!(!ending.is_finished());
            assert!(under_way.end().await.wakes.is_empty(), "one is left");
            let woken = ending.await.expect("no panic");
            assert_eq!(woken.iter().filter(|c| c.wakes.contains("default")).count(), 1);
            assert_eq!(status(&db, parent.id).await, "runnable");
            let (all, ok, no) = counts(&db, &parent).await;
            assert_eq!((all, ok + no), (2, 2));
            db.run("DELETE FROM gen_durable").await;
        }
    }
    other.close().await.expect("closes");
}

/// The neighbours in the batch do not notice, a second child of another parent among them.
#[cfg(feature = "postgres")]
async fn a_parent_held_by_someone_else_makes_only_its_childs_commit_busy(db: Db) {
    let (held, mut children) = family(&db, 1, join(None, None)).await;
    let (free, others) = family(&db, 1, join(None, None)).await;
    begin(&db, &[start()]).await;
    let stranger = claim(&db, "w#1").await.remove(0);
    let tx = crate::hold(&db, held.id).await;
    let child = children.remove(0);
    let result = Verdict::Done { result: Json::stored("7"), carry: None };
    let beside = Effects { spawned: vec![start()], signals: vec![signal(free.id, "A")], ..Effects::default() };
    let batch = [done(&others[0]), outcome(&child, result, beside), done(&stranger)];
    let commits = commit(&db, &batch).await;
    assert_eq!(commits, [Committed::Done, Committed::Busy, Committed::Done]);
    assert_eq!((status(&db, free.id).await, status(&db, child.id).await), ("runnable".into(), "executing".into()));
    assert_eq!(db.count("SELECT count(*) FROM signals").await, 0);
    tx.rollback().await;
    assert_eq!(commit(&db, &batch).await, [Committed::Done; 3]);
    assert_eq!((status(&db, held.id).await.as_str(), waits_for(&db, held.id).await), ("runnable", (0, 1)));
    assert_eq!(db.count("SELECT count(*) FROM signals").await, 1);
}

async fn a_quorum_is_judged_by_the_children_that_were_inserted(db: Db) {
    begin(&db, &[keyed("m:stands")]).await;
    let stands = claim(&db, "s#1").await.remove(0);
    // What is given, its quorum, and what is waited for.
    let given = |keys: &[&str]| keys.iter().map(|k| keyed(k)).collect::<Vec<_>>();
    let cases = [
        (given(&[]), None, None),
        (given(&["m:stands"]), None, None),
        (given(&["m:1"]), None, Some(1)),
        (given(&["m:1", "m:1", "m:2"]), None, Some(2)),
        (given(&["m:1", "m:1", "m:2"]), Some(2), Some(2)),
        (given(&["m:1", "m:1", "m:2"]), Some(3), None),
        (given(&["m:1", "m:stands"]), Some(2), None),
        (given(&["m:1"]), Some(0), None),
        (given(&["m:1"]), Some(u32::MAX), None),
    ];
    for (children, quorum, waits) in cases {
        begin(&db, &[start()]).await;
        let parent = claim(&db, "p#1").await.remove(0);
        let expected = if waits.is_some() { Committed::Parked } else { Committed::Done };
        let fans = fan_out(&parent, children.clone(), join(quorum, None));
        assert_eq!(commit(&db, &[fans]).await, [expected], "{} {quorum:?}", children.len());
        if let Some(waits) = waits {
            assert_eq!(waits_for(&db, parent.id).await, (waits, 0));
            for child in claim(&db, "c#1").await {
                assert_eq!(status(&db, parent.id).await, "awaiting_children");
                commit(&db, &[done(&child)]).await;
            }
        }
        assert_eq!(status(&db, parent.id).await, "runnable", "{} {quorum:?}", children.len());
        db.run(format!("DELETE FROM gen_durable WHERE id <> {}", stands.id)).await;
    }
}

async fn a_quorum_counts_those_of_a_batch_together_and_no_more_once_it_is_there(db: Db) {
    let (parent, c) = family(&db, 5, join(Some(2), None)).await;
    let commits = commit(&db, &[done(&c[0]), fail(&c[1]), done(&c[2])]).await;
    assert!(commits.wakes.contains("default"));
    assert_eq!((status(&db, parent.id).await.as_str(), waits_for(&db, parent.id).await), ("runnable", (2, 2)));
    // It has been woken: these are too late, and it never hears of them.
    assert!(commit(&db, &[done(&c[3]), fail(&c[4])]).await.wakes.is_empty());
    assert_eq!(counts(&db, &parent).await, (5, 2, 1));
    db.run("DELETE FROM gen_durable").await;
    let (parent, c) = family(&db, 4, join(Some(3), None)).await;
    assert!(commit(&db, &[fail(&c[0])]).await.wakes.is_empty());
    assert_eq!(status(&db, parent.id).await, "awaiting_children", "three are left, and three are needed");
    assert!(commit(&db, &[fail(&c[1])]).await.wakes.contains("default"));
    assert_eq!(counts(&db, &parent).await, (4, 0, 2));
}

async fn a_signal_to_the_parent_that_the_same_outcome_tells_is_kept_and_wakes_it_once(db: Db) {
    let (parent, c) = family(&db, 1, join(None, None)).await;
    let result = Verdict::Done { result: Json::stored("7"), carry: None };
    let beside = Effects { signals: vec![signal(parent.id, "A"), signal(c[0].id, "A")], ..Effects::default() };
    let commits = commit(&db, &[outcome(&c[0], result, beside)]).await;
    assert_eq!(commits, [Committed::Done]);
    assert_eq!(commits.wakes.len(), 1);
    assert_eq!((status(&db, parent.id).await.as_str(), waits_for(&db, parent.id).await), ("runnable", (0, 1)));
    // The parent's stays; who has ended by this very outcome is no target.
    assert_eq!(db.count(format!("SELECT count(*) FROM signals WHERE target_id = {}", parent.id)).await, 1);
    assert_eq!(db.count("SELECT count(*) FROM signals").await, 1);
}

/// Its rows know nothing of rounds.
async fn children_that_another_engine_started_are_counted_beside_ours(db: Db) {
    let (parent, c) = family(&db, 3, join(None, None)).await;
    db.run(format!("UPDATE gen_durable SET parent_round = NULL, child_index = NULL WHERE id = {}", c[0].id)).await;
    assert!(commit(&db, &[done(&c[0]), fail(&c[1])]).await.wakes.is_empty());
    assert_eq!(waits_for(&db, parent.id).await, (1, 1));
    assert!(commit(&db, &[done(&c[2])]).await.wakes.contains("default"));
    assert_eq!(waits_for(&db, parent.id).await, (0, 2));
    assert_eq!(counts(&db, &parent).await, (3, 2, 1));
}

/// Both plain, in one batch: the parent is held for the one that ends, and waits on for the other.
async fn a_child_that_goes_on_beside_one_that_ends_does_not_count(db: Db) {
    let (parent, c) = family(&db, 2, join(None, None)).await;
    let commits = commit(&db, &[goto(&c[0], entry("b")), done(&c[1])]).await;
    assert_eq!(commits, [Committed::Done, Committed::Done]);
    assert!(commits.wakes.is_empty(), "{commits:?}");
    assert_eq!((waits_for(&db, parent.id).await, counts(&db, &parent).await), ((1, 1), (2, 1, 0)));
    let again = claim(&db, "c#2").await.remove(0);
    assert!(commit(&db, &[done(&again)]).await.wakes.contains("default"));
    assert_eq!((waits_for(&db, parent.id).await, counts(&db, &parent).await), ((0, 2), (2, 2, 0)));
}
