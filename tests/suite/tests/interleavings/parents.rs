//! A cancel of a parent beside its fan-out, the ends of its children and the deadline of its join; and the cascade.

use std::{sync::Arc, time::Duration};

use gen_durable_runtime::{
    model::{Claim, Committed, Entry, InstanceId, Transition, plan},
    store::{Store, ToldChildren},
};
use suite::{Db, start};

use crate::{
    cancels::{asked, cancel, claim_of, leaves},
    claim, commit, counts, done, ended, endings, fail, family, fan_out, goto, join,
    paused::{Paused, in_line},
    status, waits_for,
};

suite::stores! {
    both {
        a_parent_that_is_cancelled_as_its_last_child_ends_is_due_once_in_either_order,
        a_cancel_in_line_behind_the_end_of_the_last_child_finds_it_counted,
        a_parent_that_is_cancelled_as_its_join_times_out_is_due_once_in_either_order,
        a_parent_that_is_cancelled_while_it_fans_out_leaves_no_child_behind,
        a_parent_that_leaves_as_its_last_child_ends_is_committed_with_it,
        a_shielded_join_comes_together_before_its_cancel_counts,
        children_of_a_cancelled_round_never_count_for_what_its_exit_fans_out,
        the_cascade_tells_each_child_that_has_not_ended_whatever_it_comes_to,
        the_cascade_comes_back_for_a_child_whose_commit_is_under_way,
        the_cascade_goes_a_level_at_a_time_and_tells_nobody_twice,
    }
    postgres {
        the_end_of_a_child_that_meets_a_cancel_in_line_for_its_parent_counts_for_nobody => "a file has no row locks",
        the_deadline_of_a_join_never_waits_for_a_cancel_in_line => "a file has no row locks",
    }
}

const NOW: Option<Duration> = Some(Duration::ZERO);

async fn clear(db: &Db) {
    db.run("DELETE FROM gen_durable").await;
}

/// As a worker does it: until it has met all of them.
async fn cascade(store: &dyn Store, parent: InstanceId) -> usize {
    let mut told = 0;
    loop {
        let ToldChildren { rows, missed, .. } = store.cancel_children(parent, None, 1_000).await.expect("tells");
        told += rows;
        if !missed {
            return told;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// The parent is due, once, and whoever takes it learns of the cancel and takes the exit.
async fn exits(db: &Db, parent: &Claim) {
    assert_eq!((status(db, parent.id).await.as_str(), waits(db, parent.id).await), ("runnable", false));
    let due = claim_of(db, "p#2", parent.id).await;
    assert!(due.cancelled && due.step == "j");
    cascade(&*db.store, parent.id).await;
    assert_eq!(commit(db, &[leaves(&due)]).await, [Committed::Done]);
    assert_eq!(waits_for(db, parent.id).await.0, 0, "it waits for nobody");
}

async fn waits(db: &Db, id: InstanceId) -> bool {
    db.count(format!("SELECT count(*) FROM gen_durable WHERE id = {id} AND status::text LIKE 'awaiting%'")).await > 0
}

/// Of one or two children, by its result or its failure, at the quorum or at the end of all.
async fn a_parent_that_is_cancelled_as_its_last_child_ends_is_due_once_in_either_order(db: Db) {
    for (children, quorum) in [(1, None), (2, None), (2, Some(1)), (3, Some(2))] {
        for cancel_first in [true, false] {
            for (ends, with_result) in [(done as fn(&Claim) -> Transition, true), (fail, false)] {
                let (parent, c) = family(&db, children, join(quorum, None)).await;
                let need = quorum.map_or(children, |n| n as usize);
                for child in &c[..need - 1] {
                    assert!(commit(&db, &[done(child)]).await.wakes.is_empty());
                }
                let last = [ends(&c[need - 1])];
                let by_cancel = async || asked(&cancel(&*db.store, parent.id).await);
                let by_child = async || commit(&db, &last).await;
                let woken = if cancel_first {
                    assert_eq!(by_cancel().await, Some(false));
                    by_child().await
                } else {
                    let woken = by_child().await;
                    assert_eq!(by_cancel().await, Some(false));
                    woken
                };
                assert_eq!(woken, [Committed::Done]);
                // A failure is no step to a quorum that others can still reach.
                let over = with_result || quorum.is_none();
                assert_eq!(woken.wakes.contains("default"), over && !cancel_first);
                let (_, ok, no) = counts(&db, &parent).await;
                assert_eq!(ok + no, (need - usize::from(cancel_first)) as u64, "counted by one that still waits");
                exits(&db, &parent).await;
                clear(&db).await;
            }
        }
    }
}

async fn a_cancel_in_line_behind_the_end_of_the_last_child_finds_it_counted(db: Db) {
    for ends in [done, fail] {
        let (parent, c) = family(&db, 2, join(None, None)).await;
        assert_eq!(commit(&db, &[done(&c[0])]).await, [Committed::Done]);
        let under_way = Paused::begin(&db, vec![ends(&c[1])]).await;
        let (store, id) = (Arc::clone(&db.store), parent.id);
        let cancelling = in_line(&db, 1, async move { cancel(&*store, id).await }).await;
        assert!(under_way.end().await.wakes.contains("default"));
        assert_eq!(asked(&cancelling.await.expect("no panic")), Some(false));
        let (_, ok, no) = counts(&db, &parent).await;
        assert_eq!(ok + no, 2);
        exits(&db, &parent).await;
        clear(&db).await;
    }
}

#[cfg(feature = "postgres")]
async fn the_end_of_a_child_that_meets_a_cancel_in_line_for_its_parent_counts_for_nobody(db: Db) {
    for ends in [done, fail] {
        let (parent, c) = family(&db, 1, join(None, None)).await;
        let held = crate::hold(&db, parent.id).await;
        let (store, id) = (Arc::clone(&db.store), parent.id);
        let cancelling = in_line(&db, 1, async move { cancel(&*store, id).await }).await;
        assert_eq!(commit(&db, &[ends(&c[0])]).await, [Committed::Busy]);
        held.rollback().await;
        assert_eq!(asked(&cancelling.await.expect("no panic")), Some(false));
        let commits = commit(&db, &[ends(&c[0])]).await;
        assert_eq!(commits, [Committed::Done]);
        assert!(commits.wakes.is_empty(), "{commits:?}");
        assert_eq!(counts(&db, &parent).await, (1, 0, 0));
        exits(&db, &parent).await;
        clear(&db).await;
    }
}

/// A child may have ended before.
async fn a_parent_that_is_cancelled_as_its_join_times_out_is_due_once_in_either_order(db: Db) {
    for (cancel_first, ended) in [(true, 0), (true, 1), (false, 0), (false, 1)] {
        let (parent, c) = family(&db, 2, join(None, NOW)).await;
        for child in &c[..ended] {
            commit(&db, &[done(child)]).await;
        }
        let mut by_deadline = 0;
        if !cancel_first {
            by_deadline = db.store.end_waits(10).await.expect("ends").rows;
        }
        assert_eq!(asked(&cancel(&*db.store, parent.id).await), Some(false));
        if cancel_first {
            by_deadline = db.store.end_waits(10).await.expect("ends").rows;
        }
        assert_eq!(by_deadline, usize::from(!cancel_first));
        assert_eq!(counts(&db, &parent).await, (2, ended as u64, 0));
        exits(&db, &parent).await;
        clear(&db).await;
    }
}

#[cfg(feature = "postgres")]
async fn the_deadline_of_a_join_never_waits_for_a_cancel_in_line(db: Db) {
    let (parent, _) = family(&db, 1, join(None, NOW)).await;
    let held = crate::hold(&db, parent.id).await;
    let (store, id) = (Arc::clone(&db.store), parent.id);
    let cancelling = in_line(&db, 1, async move { cancel(&*store, id).await }).await;
    assert_eq!(db.store.end_waits(10).await.expect("ends").rows, 0);
    held.rollback().await;
    assert_eq!(asked(&cancelling.await.expect("no panic")), Some(false));
    assert_eq!(db.store.end_waits(10).await.expect("ends").rows, 0, "the cancel was first");
    exits(&db, &parent).await;
}

/// The cancel comes before the commit of the fan-out, while it is under way, and after it. None of the children runs on.
async fn a_parent_that_is_cancelled_while_it_fans_out_leaves_no_child_behind(db: Db) {
    for order in ["before", "meanwhile", "after"] {
        crate::begin(&db, &[start()]).await;
        let parent = claim(&db, "p#1").await.remove(0);
        let fans = fan_out(&parent, vec![start(), crate::keyed("m:1"), start()], join(None, None));
        let (store, id) = (Arc::clone(&db.store), parent.id);
        let cancelling = async move { cancel(&*store, id).await };
        let committed = match order {
            "before" => {
                cancelling.await;
                commit(&db, &[fans]).await
            }
            "meanwhile" => {
                let under_way = Paused::begin(&db, vec![fans]).await;
                let cancelling = in_line(&db, 1, cancelling).await;
                let committed = under_way.end().await;
                cancelling.await.expect("no panic");
                committed
            }
            _ => {
                let committed = commit(&db, &[fans]).await;
                cancelling.await;
                committed
            }
        };
        if order == "before" {
            assert_eq!(committed, [Committed::Cancelled]);
            assert_eq!(db.count("SELECT count(*) FROM gen_durable").await, 1, "nobody was started");
            clear(&db).await;
            continue;
        }
        assert_eq!(committed, [Committed::Parked], "{order}");
        let due = claim(&db, "w#2").await;
        assert_eq!(due.len(), 4, "{order}: the parent and its children");
        assert_eq!(cascade(&*db.store, parent.id).await, 3, "{order}");
        for of_family in due {
            let transition = if of_family.id == parent.id {
                leaves(&of_family)
            } else {
                // Its run was told, and its outcome is dropped.
                assert_eq!(
                    commit(&db, &[goto(&of_family, suite::entry("b"))]).await,
                    [Committed::Cancelled],
                    "{order}"
                );
                plan::cancelled(&of_family, None)
            };
            assert_eq!(commit(&db, &[transition]).await, [Committed::Done], "{order}");
        }
        assert_eq!(db.count("SELECT count(*) FROM gen_durable WHERE status = 'failed'").await, 3, "{order}");
        assert_eq!(counts(&db, &parent).await, (3, 0, 0), "{order}: its join saw none of them end");
        clear(&db).await;
    }
}

async fn a_parent_that_leaves_as_its_last_child_ends_is_committed_with_it(db: Db) {
    for parent_first in [true, false] {
        let (parent, c) = family(&db, 1, join(None, None)).await;
        cancel(&*db.store, parent.id).await;
        let due = claim_of(&db, "p#2", parent.id).await;
        let mut batch = [leaves(&due), done(&c[0])];
        if !parent_first {
            batch.reverse();
        }
        assert_eq!(commit(&db, &batch).await, [Committed::Done; 2]);
        assert_eq!((status(&db, parent.id).await.as_str(), waits_for(&db, parent.id).await), ("runnable", (0, 0)));
        assert_eq!(counts(&db, &parent).await, (1, 0, 0));
        clear(&db).await;
    }
}

async fn a_shielded_join_comes_together_before_its_cancel_counts(db: Db) {
    for cancel_first in [true, false] {
        let shielded = Entry { shielded: true, ..join(None, None) };
        let (parent, c) = family(&db, 2, shielded).await;
        commit(&db, &[done(&c[0])]).await;
        if cancel_first {
            assert_eq!(asked(&cancel(&*db.store, parent.id).await), Some(false));
            assert_eq!(status(&db, parent.id).await, "awaiting_children");
        }
        assert!(commit(&db, &[fail(&c[1])]).await.wakes.contains("default"));
        if !cancel_first {
            assert_eq!(asked(&cancel(&*db.store, parent.id).await), Some(false));
        }
        let joins = claim_of(&db, "p#2", parent.id).await;
        assert!(!joins.cancelled);
        assert_eq!(counts(&db, &parent).await, (2, 1, 1));
        assert_eq!(commit(&db, &[goto(&joins, suite::entry("b"))]).await, [Committed::Done]);
        assert!(claim_of(&db, "p#3", parent.id).await.cancelled);
        clear(&db).await;
    }
}

/// The old ones end before the exit fans out, with that, and after it.
async fn children_of_a_cancelled_round_never_count_for_what_its_exit_fans_out(db: Db) {
    for order in 0..3 {
        let (first, old) = family(&db, 2, join(None, None)).await;
        cancel(&*db.store, first.id).await;
        let due = claim_of(&db, "p#2", first.id).await;
        assert_eq!(cascade(&*db.store, first.id).await, 2);
        assert_eq!(commit(&db, &[leaves(&due)]).await, [Committed::Done]);
        let exit = claim_of(&db, "p#3", first.id).await;
        let again = Entry { shielded: true, ..join(None, None) };
        let fans = fan_out(&exit, vec![start(), start()], again);
        let ends = [plan::cancelled(&old[0], None), done(&old[1])];
        let mut batch = vec![fans];
        if order == 1 {
            batch.extend(ends.clone());
        }
        if order == 0 {
            assert!(commit(&db, &ends).await.wakes.is_empty());
        }
        assert_eq!(commit(&db, &batch).await[0], Committed::Parked);
        if order == 2 {
            assert!(commit(&db, &ends).await.wakes.is_empty());
        }
        assert_eq!(waits_for(&db, first.id).await, (2, 0), "{order}");
        let new = claim(&db, "c#2").await;
        assert!(new.len() == 2 && new.iter().all(|c| !c.cancelled), "{order}: nobody cancelled these");
        assert!(commit(&db, &[done(&new[0]), done(&new[1])]).await.wakes.contains("default"));
        assert_eq!((counts(&db, &first).await, counts(&db, &exit).await), ((2, 0, 0), (2, 2, 0)), "{order}");
        clear(&db).await;
    }
}

async fn the_cascade_tells_each_child_that_has_not_ended_whatever_it_comes_to(db: Db) {
    for nth in 0..ended::ALL {
        for told_first in [true, false] {
            let (parent, c) = family(&db, 1, join(None, None)).await;
            let (name, t) = endings(&c[0]).swap_remove(nth);
            if told_first {
                assert_eq!(cascade(&*db.store, parent.id).await, 1, "{name}");
            }
            let committed = commit(&db, std::slice::from_ref(&t)).await;
            assert!(!told_first || committed == [ended::cancelled(name, &t)], "{name}: {committed:?}");
            if !told_first {
                assert_eq!(cascade(&*db.store, parent.id).await, usize::from(!t.ends()), "{name}");
            }
            let told = format!("SELECT count(*) FROM gen_durable WHERE id = {} AND cancelled_at IS NOT NULL", c[0].id);
            assert_eq!(db.count(told).await, i64::from(told_first || !t.ends()), "{name}");
            assert!(!waits(&db, c[0].id).await, "{name}: it does not wait on");
            clear(&db).await;
        }
    }
}

/// It is told as soon as it can be, or it has ended.
async fn the_cascade_comes_back_for_a_child_whose_commit_is_under_way(db: Db) {
    for nth in 0..ended::ALL {
        let (parent, c) = family(&db, 2, join(None, None)).await;
        let (name, t) = endings(&c[0]).swap_remove(nth);
        let ends = t.ends();
        // It holds the parent as well where it ends: the cascade needs the child alone.
        let under_way = Paused::begin(&db, vec![t]).await;
        if db.store.dialect() == "postgres" {
            let told = db.store.cancel_children(parent.id, None, 10).await.expect("tells");
            assert_eq!((told.rows, told.missed), (1, true), "{name}: it waits for nobody, and says so");
        }
        let (store, id) = (Arc::clone(&db.store), parent.id);
        let cascading = tokio::spawn(async move { cascade(&*store, id).await });
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert!(!cascading.is_finished(), "{name}");
        let committed = under_way.end().await[0];
        assert_ne!(committed, Committed::Cancelled, "{name}: it was first");
        cascading.await.expect("no panic");
        let told = "SELECT count(*) FROM gen_durable WHERE parent_id = $1 AND cancelled_at IS NOT NULL";
        let told = told.replace("$1", &parent.id.to_string());
        assert_eq!(db.count(told).await, if ends { 1 } else { 2 }, "{name}");
        assert!(!waits(&db, c[0].id).await, "{name}: it does not wait on");
        clear(&db).await;
    }
}

async fn the_cascade_goes_a_level_at_a_time_and_tells_nobody_twice(db: Db) {
    let (parent, c) = family(&db, 2, join(None, None)).await;
    assert_eq!(commit(&db, &[fan_out(&c[0], vec![start(); 3], join(None, None))]).await, [Committed::Parked]);
    cancel(&*db.store, parent.id).await;
    assert_eq!(cascade(&*db.store, parent.id).await, 2);
    assert_eq!(cascade(&*db.store, parent.id).await, 0, "a process that died half way does it again");
    let told = "SELECT count(*) FROM gen_durable WHERE cancelled_at IS NOT NULL";
    assert_eq!(db.count(told).await, 3, "the grandchildren are their parent's to tell");
    let child = claim_of(&db, "c#2", c[0].id).await;
    assert!(child.cancelled);
    // Pieces.
    let mut pieces = vec![];
    for _ in 0..3 {
        pieces.push(db.store.cancel_children(child.id, None, 2).await.expect("tells").rows);
    }
    assert_eq!(pieces, [2, 1, 0]);
    assert_eq!(db.count(told).await, 6);
}
