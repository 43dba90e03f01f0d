//! Commits and reaps of one claim; what a lost claim, or a commit that is sent again, does to others.

use std::{sync::Arc, time::Duration};

use gen_durable_runtime::model::{Committed, Effects, StartSpec, Transition, Verdict};
use suite::{Db, Sql, entry, start};

use crate::{
    begin, claim, commit, done, ended, endings, fail, family, fan_out, goto, join, keyed, outcome, paused::Paused,
    reap, signal, status, to, waiting,
};

suite::stores! {
    both {
        a_commit_and_a_reap_of_one_claim_land_one_of_them_in_either_order,
        a_reap_beside_a_commit_that_is_under_way_takes_nothing_of_it,
        no_child_is_seen_before_its_parent_waits,
        an_outcome_whose_claim_was_reaped_starts_nobody_signals_nobody_and_tells_no_parent,
        an_outcome_that_is_sent_again_starts_and_signals_nobody_twice_and_counts_once,
        of_two_claims_of_one_child_in_a_batch_one_is_counted,
        an_outcome_of_a_row_that_lost_its_business_key_leaves_the_line_of_a_failure,
    }
    postgres {
        a_commit_and_a_reap_of_a_row_that_someone_holds_change_nothing_and_do_not_wait => "a file has no row locks",
    }
}

async fn a_commit_and_a_reap_of_one_claim_land_one_of_them_in_either_order(db: Db) {
    for nth in 0..ended::ALL {
        for reap_first in [true, false] {
            let id = begin(&db, &[start()]).await[0];
            let (name, t) = endings(&claim(&db, "w#1").await[0]).swap_remove(nth);
            if reap_first {
                assert_eq!(reap(&db).await, 1);
                let before = db.row(id).await;
                assert_eq!(commit(&db, &[t]).await, [ended::reaped(name)], "{name}");
                assert_eq!(db.row(id).await, before);
                assert_eq!(db.count("SELECT count(*) FROM gen_durable").await, 1);
            } else {
                let answers = commit(&db, &[t]).await;
                let in_place = name == ended::IN_PLACE;
                let committed =
                    if in_place { answers[0] == Committed::Kept } else { answers[0] != Committed::ClaimLost };
                assert!(committed, "{name}: {answers:?}");
                let before = db.row(id).await;
                // One that goes on in place is held by its claim as before.
                assert_eq!(reap(&db).await, usize::from(in_place), "{name}");
                assert!(in_place || db.row(id).await == before, "{name}");
            }
            db.run("DELETE FROM gen_durable").await;
        }
    }
}

#[cfg(feature = "postgres")]
async fn a_commit_and_a_reap_of_a_row_that_someone_holds_change_nothing_and_do_not_wait(db: Db) {
    for nth in 0..ended::ALL {
        let id = begin(&db, &[start()]).await[0];
        let (name, t) = endings(&claim(&db, "w#1").await[0]).swap_remove(nth);
        db.run("UPDATE gen_durable SET lease_expires_at = now() - interval '1 s'").await;
        let before = db.row(id).await;
        let held = crate::hold(&db, id).await;
        assert_eq!(commit(&db, std::slice::from_ref(&t)).await, [Committed::Busy], "{name}");
        assert_eq!(db.store.reap(10).await.expect("reaps").rows, 0);
        assert_eq!(db.row(id).await, before);
        held.rollback().await;
        assert_ne!(commit(&db, &[t]).await[0], Committed::Busy);
        db.run("DELETE FROM gen_durable").await;
    }
}

/// Its lease ended before it came to its commit: whoever has the row first has it, with all that it starts.
async fn a_reap_beside_a_commit_that_is_under_way_takes_nothing_of_it(db: Db) {
    for nth in 0..ended::ALL {
        let id = begin(&db, &[start()]).await[0];
        let (name, t) = endings(&claim(&db, "w#1").await[0]).swap_remove(nth);
        db.run("UPDATE gen_durable SET lease_expires_at = now() - interval '1 s'").await;
        let under_way = Paused::begin(&db, vec![t]).await;
        let store = Arc::clone(&db.store);
        let reaping = tokio::spawn(async move { store.reap(10).await.expect("reaps").rows });
        if db.store.dialect() == "postgres" {
            // It passes the row by; a file's line it stands in.
            suite::eventually("it waits for nobody", Duration::from_secs(10), async || reaping.is_finished()).await;
        }
        let committed = under_way.end().await[0];
        assert!(!matches!(committed, Committed::ClaimLost | Committed::Busy), "{name}: {committed:?}");
        // In place the claim is as old as it was: on a file the reap comes after.
        let in_place = name == ended::IN_PLACE && db.store.dialect() == "sqlite";
        assert_eq!(reaping.await.expect("no panic"), usize::from(in_place), "{name}");
        let started = if name == "fans out" { 2 } else { i64::from(name == "spawns") };
        assert_eq!(db.count("SELECT count(*) FROM gen_durable").await, 1 + started, "{name}");
        assert_eq!(
            db.count(format!("SELECT crashes::bigint FROM gen_durable WHERE id = {id}")).await,
            i64::from(in_place)
        );
        db.run("DELETE FROM gen_durable").await;
    }
}

/// O-25: children cannot end while their parent's own park is being committed.
async fn no_child_is_seen_before_its_parent_waits(db: Db) {
    let id = begin(&db, &[start()]).await[0];
    let parent = claim(&db, "p#1").await.remove(0);
    let under_way = Paused::begin(&db, vec![fan_out(&parent, vec![start(), start()], join(None, None))]).await;
    assert_eq!(db.count("SELECT count(*) FROM gen_durable").await, 1, "whoever reads sees nobody");
    let store = Arc::clone(&db.store);
    let claiming = async move { store.claim(&suite::order(&crate::known(), 100, "c#1")).await.expect("claims").claims };
    let claiming = tokio::spawn(claiming);
    if db.store.dialect() == "postgres" {
        // It waits for nobody; on a file it comes after, and sees all.
        assert_eq!(claiming.await.expect("no panic").len(), 0);
        assert_eq!(under_way.end().await, [Committed::Parked]);
    } else {
        assert_eq!(under_way.end().await, [Committed::Parked]);
        assert_eq!(claiming.await.expect("no panic").len(), 2);
        reap(&db).await;
    }
    assert_eq!((status(&db, id).await.as_str(), crate::waits_for(&db, id).await), ("awaiting_children", (2, 0)));
    let children = claim(&db, "c#2").await;
    assert!(commit(&db, &[done(&children[0]), fail(&children[1])]).await.wakes.contains("default"));
}

/// Children with and without keys, a spawned one, a signal and a parent, all of one outcome.
async fn an_outcome_whose_claim_was_reaped_starts_nobody_signals_nobody_and_tells_no_parent(db: Db) {
    let (parent, mut children) = family(&db, 1, join(None, None)).await;
    let target = begin(&db, &[StartSpec { entry: waiting(), ..start() }]).await[0];
    let beside = Effects { spawned: vec![start()], signals: vec![signal(target, "A")], ..Effects::default() };
    let child = children.remove(0);
    let lost = [
        outcome(
            &child,
            Verdict::Done { result: gen_durable_runtime::model::Json::stored("7"), carry: None },
            beside.clone(),
        ),
        fan_out(&child, vec![start(), keyed("m:1"), keyed("m:1")], join(Some(2), None)),
        outcome(&child, to(entry("b")), beside),
    ];
    assert_eq!(reap(&db).await, 1);
    for t in &lost {
        let commits = commit(&db, std::slice::from_ref(t)).await;
        assert_eq!(commits, [Committed::ClaimLost]);
        assert!(commits.wakes.is_empty(), "{commits:?}");
    }
    // Claimed again, it is another claim's to end.
    let again = claim(&db, "c#2").await.remove(0);
    assert_eq!(commit(&db, &lost).await, [Committed::ClaimLost; 3]);
    assert_eq!(db.count("SELECT count(*) FROM gen_durable").await, 3);
    assert_eq!(db.count("SELECT count(*) FROM signals").await, 0);
    assert_eq!(status(&db, parent.id).await, "awaiting_children");
    assert_eq!(commit(&db, &[done(&again)]).await, [Committed::Done]);
    assert_eq!(crate::counts(&db, &parent).await, (1, 1, 0));
}

async fn an_outcome_that_is_sent_again_starts_and_signals_nobody_twice_and_counts_once(db: Db) {
    let (parent, children) = family(&db, 2, join(None, None)).await;
    let target = begin(&db, &[StartSpec { entry: waiting(), ..start() }]).await[0];
    let result = || Verdict::Done { result: gen_durable_runtime::model::Json::stored("7"), carry: None };
    let beside = Effects { spawned: vec![start()], signals: vec![signal(target, "A")], ..Effects::default() };
    let batch = [outcome(&children[0], result(), beside)];
    for _ in 0..3 {
        assert_eq!(commit(&db, &batch).await, [Committed::Done]);
        assert_eq!(crate::waits_for(&db, parent.id).await, (1, 1));
        assert_eq!(crate::counts(&db, &parent).await, (2, 1, 0));
    }
    let fans = [fan_out(&children[1], vec![start(), keyed("m:1"), keyed("m:1")], join(None, None))];
    assert_eq!(commit(&db, &fans).await, [Committed::Parked]);
    assert_eq!(commit(&db, &fans).await, [Committed::Done], "it landed");
    assert_eq!(crate::waits_for(&db, children[1].id).await, (2, 0));
    // The family, the target, the spawned one, two grandchildren.
    assert_eq!(db.count("SELECT count(*) FROM gen_durable").await, 3 + 1 + 1 + 2);
    assert_eq!(db.count("SELECT count(*) FROM signals").await, 1);
}

async fn of_two_claims_of_one_child_in_a_batch_one_is_counted(db: Db) {
    let (parent, lost) = family(&db, 2, join(None, None)).await;
    assert_eq!(reap(&db).await, 2);
    let stand = claim(&db, "c#2").await;
    let answers = commit(&db, &[done(&lost[0]), fail(&stand[0])]).await;
    assert_eq!(answers, [Committed::ClaimLost, Committed::Done]);
    assert_eq!(crate::waits_for(&db, parent.id).await, (1, 0));
    assert_eq!(crate::counts(&db, &parent).await, (2, 0, 1));
}

/// Only a row of another engine gives its key up while it executes.
const FOREIGN: Sql = Sql {
    postgres: "UPDATE gen_durable SET correlation_scope = '{runnable,awaiting_signal}'",
    sqlite: "UPDATE gen_durable SET correlation_scope = '[\"runnable\",\"awaiting_signal\"]'",
};

async fn an_outcome_of_a_row_that_lost_its_business_key_leaves_the_line_of_a_failure(db: Db) {
    let id = begin(&db, &[keyed("m:1")]).await[0];
    db.run(FOREIGN).await;
    let c = claim(&db, "w#1").await.remove(0);
    assert_ne!(begin(&db, &[keyed("m:1")]).await[0], id, "a newer occupant");
    let t = Transition { started: Some(jiff::Timestamp::now()), ..goto(&c, entry("b")) };
    assert_eq!(commit(&db, &[t]).await, [Committed::Done]);
    assert_eq!(status(&db, id).await, "failed");
    let line = db.store.history(id, 0, 9).await.expect("its history").remove(0);
    assert_eq!((line.from.as_str(), line.to.as_deref(), line.outcome.as_str()), ("a", None, "failed"));
    assert_eq!(line.error.as_deref(), Some("its business key has a newer occupant"));
}
