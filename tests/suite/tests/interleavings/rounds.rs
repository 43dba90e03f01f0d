//! A child's end beside the deadline of the join, the next round, and runs of the join step.

use std::time::Duration;

use gen_durable_runtime::{
    model::{Committed, Effects, Verdict},
    store::ChildPage,
};
use suite::{Db, start};

use crate::{claim, commit, counts, done, fail, family, fan_out, join, outcome, reap, status, waits_for};

suite::stores! {
    both {
        a_child_and_the_deadline_of_its_join_settle_who_was_first_and_no_run_sees_it_otherwise,
        a_child_of_one_round_never_counts_for_the_next_in_any_order,
        a_parent_and_its_late_child_end_in_one_batch,
        ended_waits_are_no_more_than_were_asked_for_and_the_oldest_first,
    }
    postgres {
        a_deadline_never_waits_for_a_parent_that_someone_holds => "a file has no row locks",
    }
}

const NOW: Option<Duration> = Some(Duration::ZERO);

async fn a_child_and_the_deadline_of_its_join_settle_who_was_first_and_no_run_sees_it_otherwise(db: Db) {
    for (child_first, children) in [(true, 1), (true, 2), (false, 1), (false, 2)] {
        let (parent, c) = family(&db, children, join(None, NOW)).await;
        let end = async || commit(&db, &[done(&c[0])]).await.wakes.contains("default");
        let up = async || db.store.end_waits(10).await.expect("ends").rows;
        if child_first {
            assert_eq!((end().await, up().await), (children == 1, children - 1));
        } else {
            assert_eq!((up().await, end().await), (1, false));
        }
        let seen = (children as u64, u64::from(child_first), 0);
        for run in ["p#2", "p#3", "p#4"] {
            let joins = claim(&db, run).await.remove(0);
            assert_eq!((joins.id, joins.step.as_str(), joins.transitions), (parent.id, "j", 1));
            assert_eq!(counts(&db, &parent).await, seen);
            let page = ChildPage { parent: parent.id, round: 1, machines: &["m"], after: -1, limit: 10 };
            assert_eq!(db.store.children(&page).await.expect("reads").len() as u64, seen.1);
            match run {
                "p#2" => assert_eq!(reap(&db).await, children),
                _ => assert_eq!(
                    commit(&db, &[outcome(&joins, Verdict::RetryIn(Duration::ZERO), Effects::default())]).await,
                    [Committed::Done]
                ),
            }
            // The others end meanwhile, under whatever claim they have now.
            if let Some(late) = claim(&db, "c#2").await.into_iter().find(|c| c.id != parent.id) {
                commit(&db, &[fail(&late)]).await;
            }
            db.run("UPDATE gen_durable SET status = 'runnable' WHERE status = 'executing'").await;
        }
        db.run("DELETE FROM gen_durable").await;
    }
}

#[cfg(feature = "postgres")]
async fn a_deadline_never_waits_for_a_parent_that_someone_holds(db: Db) {
    let (parent, c) = family(&db, 2, join(None, NOW)).await;
    let held = crate::hold(&db, parent.id).await;
    assert_eq!(db.store.end_waits(10).await.expect("ends").rows, 0);
    assert_eq!(commit(&db, &[done(&c[0])]).await, [Committed::Busy]);
    held.rollback().await;
    assert_eq!(commit(&db, &[done(&c[0])]).await, [Committed::Done]);
    assert_eq!(db.store.end_waits(10).await.expect("ends").rows, 1);
    assert_eq!(counts(&db, &parent).await, (2, 1, 0));
}

/// The late one ends before the parent runs, while it runs, in one batch with its next fan-out, after that, and in one
/// batch with a child of the next round.
async fn a_child_of_one_round_never_counts_for_the_next_in_any_order(db: Db) {
    for order in 0..5 {
        let (first, c) = family(&db, 2, join(Some(1), None)).await;
        assert!(commit(&db, &[done(&c[0])]).await.wakes.contains("default"));
        let late = done(&c[1]);
        if order == 0 {
            assert!(commit(&db, std::slice::from_ref(&late)).await.wakes.is_empty());
        }
        let parent = claim(&db, "p#2").await.remove(0);
        let next = fan_out(&parent, vec![start(), start()], join(None, None));
        let commits = match order {
            1 => {
                assert!(commit(&db, std::slice::from_ref(&late)).await.wakes.is_empty());
                commit(&db, &[next]).await
            }
            2 => commit(&db, &[next, late.clone()]).await,
            _ => commit(&db, &[next]).await,
        };
        assert_eq!(commits[0], Committed::Parked);
        if order == 3 {
            assert!(commit(&db, std::slice::from_ref(&late)).await.wakes.is_empty());
        }
        assert_eq!(waits_for(&db, parent.id).await, (2, 0), "order {order}");
        let second = claim(&db, "c#2").await;
        assert_eq!(second.len(), 2);
        let mut ends = vec![fail(&second[0])];
        ends.extend((order == 4).then_some(late));
        assert!(commit(&db, &ends).await.wakes.is_empty());
        assert_eq!(waits_for(&db, parent.id).await, (1, 0), "order {order}");
        assert!(commit(&db, &[done(&second[1])]).await.wakes.contains("default"));
        assert_eq!((counts(&db, &first).await, counts(&db, &parent).await), ((2, 1, 0), (2, 1, 1)));
        db.run("DELETE FROM gen_durable").await;
    }
}

async fn a_parent_and_its_late_child_end_in_one_batch(db: Db) {
    for parent_first in [true, false] {
        let (parent, c) = family(&db, 1, join(None, NOW)).await;
        assert_eq!(db.store.end_waits(10).await.expect("ends").rows, 1);
        let joins = claim(&db, "p#2").await.remove(0);
        let mut batch = [done(&joins), done(&c[0])];
        if !parent_first {
            batch.reverse();
        }
        let commits = commit(&db, &batch).await;
        assert_eq!(commits, [Committed::Done; 2]);
        assert!(commits.wakes.is_empty());
        assert_eq!(status(&db, parent.id).await, "done");
        assert_eq!(counts(&db, &parent).await, (1, 0, 0));
        db.run("DELETE FROM gen_durable").await;
    }
}

/// A sweeper that gets as many as it asked for asks again at once; one that got more did not.
async fn ended_waits_are_no_more_than_were_asked_for_and_the_oldest_first(db: Db) {
    let (parent, _) = family(&db, 1, join(None, NOW)).await;
    let wait = gen_durable_runtime::model::Wait::any(&["A"][..], NOW.map(gen_durable_runtime::model::Deadline::After));
    let entry = gen_durable_runtime::model::Entry { wait: Some(wait), ..suite::entry("w") };
    let waits = crate::begin(&db, &vec![gen_durable_runtime::model::StartSpec { entry, ..start() }; 3]).await;
    db.run(format!("UPDATE gen_durable SET await_deadline = now() - interval '5 s' WHERE id = {}", waits[1])).await;
    db.run(format!("UPDATE gen_durable SET await_deadline = now() - interval '4 s' WHERE id = {}", parent.id)).await;
    let mut swept = vec![];
    for _ in 0..3 {
        swept.push(db.store.end_waits(2).await.expect("ends").rows);
        if swept.len() == 1 {
            assert_eq!(
                (status(&db, waits[1]).await.as_str(), status(&db, parent.id).await.as_str()),
                ("runnable", "runnable")
            );
        }
    }
    assert_eq!(swept, [2, 2, 0]);
}
