//! A retry of a failed instance beside starts and retries that want its key, late commits of older claims, cancels, and
//! the parent that counted its failure.

use std::sync::Arc;

use gen_durable_runtime::{
    model::{Claim, Committed, InstanceId, Started, Target, Transition, plan},
    store::{Retrying, Store},
};
use suite::{Db, start};

use crate::{
    begin, cancels::asked, cancels::cancel, cancels::claim_of, claim, commit, counts, done, ended, endings, fail,
    family, goto, join, keyed, paused::Paused, paused::in_line, reap, status, waits_for,
};

suite::stores! {
    both {
        a_retry_and_a_start_of_its_key_settle_who_has_it_in_either_order,
        a_retry_in_line_behind_a_callers_start_of_its_key_goes_on_only_if_that_never_was,
        of_two_that_failed_with_one_key_the_first_to_be_retried_has_it,
        a_retry_in_line_behind_the_retry_of_its_twin_goes_on_only_if_that_never_was,
        a_late_commit_of_an_older_claim_changes_nothing_before_or_after_a_retry,
        a_failure_that_is_sent_again_after_its_retry_fails_nobody,
        a_retry_before_the_failure_finds_nobody_and_after_it_the_instance,
        two_retries_in_line_for_one_instance_let_it_go_on_once,
        a_retry_and_a_cancel_settle_who_was_last,
        a_child_that_is_retried_counts_once_whatever_it_comes_to,
        a_parent_that_failed_and_is_retried_sees_the_round_that_it_saw,
        what_a_failed_visit_received_is_what_its_retry_sees,
    }
    both(flavor = "multi_thread", worker_threads = 2) {
        of_two_with_one_key_that_are_retried_at_once_one_goes_on,
    }
}

async fn retry(store: &dyn Store, id: InstanceId) -> Retrying {
    store.retry(&Target::Id(id)).await.expect("answers")
}

fn goes(id: InstanceId) -> Retrying {
    Retrying::Goes { id, queue: "default".into() }
}

/// An instance that has failed, and the claim under which it did.
async fn failed(db: &Db, key: Option<&str>) -> Claim {
    begin(db, &[key.map_or_else(start, keyed)]).await;
    let c = claim(db, "w#1").await.remove(0);
    assert_eq!(commit(db, &[fail(&c)]).await, [Committed::Done]);
    c
}

async fn clear(db: &Db) {
    db.run("DELETE FROM gen_durable").await;
}

async fn a_retry_and_a_start_of_its_key_settle_who_has_it_in_either_order(db: Db) {
    for retry_first in [true, false] {
        let c = failed(&db, Some("m:1")).await;
        if retry_first {
            assert_eq!(retry(&*db.store, c.id).await, goes(c.id));
            assert_eq!(db.store.start(&[keyed("m:1")]).await.expect("answers"), [Started::Duplicate(c.id)]);
        } else {
            let newer = begin(&db, &[keyed("m:1")]).await[0];
            let before = db.row(c.id).await;
            assert_eq!(retry(&*db.store, c.id).await, Retrying::Duplicate(newer));
            assert_eq!(db.row(c.id).await, before);
            // Once that has ended the key is free again.
            let newer = claim(&db, "w#2").await.remove(0);
            assert_eq!(commit(&db, &[done(&newer)]).await, [Committed::Done]);
            assert_eq!(retry(&*db.store, c.id).await, goes(c.id));
        }
        clear(&db).await;
    }
}

/// A start that is not committed: nobody can know yet.
async fn a_retry_in_line_behind_a_callers_start_of_its_key_goes_on_only_if_that_never_was(db: Db) {
    for commits in [true, false] {
        let c = failed(&db, Some("m:1")).await;
        let mut tx = db.begin().await;
        tx.run(
            "INSERT INTO gen_durable (fsm, step, status, state, queue, correlation_key, correlation_scope)
             VALUES ('m', 'a', 'runnable', '{}', 'default', 'm:1', '{runnable,executing}')",
        )
        .await;
        let (store, id) = (Arc::clone(&db.store), c.id);
        let retrying = in_line(&db, 1, async move { retry(&*store, id).await }).await;
        if commits {
            tx.commit().await;
        } else {
            tx.rollback().await;
        }
        let newer = db.count("SELECT coalesce(max(id), 0) FROM gen_durable WHERE status <> 'failed'").await;
        let expected = if commits { Retrying::Duplicate(InstanceId::new(newer)) } else { goes(c.id) };
        assert_eq!(retrying.await.expect("no panic"), expected);
        assert_eq!(status(&db, c.id).await, if commits { "failed" } else { "runnable" });
        clear(&db).await;
    }
}

async fn of_two_that_failed_with_one_key_the_first_to_be_retried_has_it(db: Db) {
    let (one, two) = (failed(&db, Some("m:1")).await, failed(&db, Some("m:1")).await);
    assert_eq!(retry(&*db.store, two.id).await, goes(two.id));
    assert_eq!(retry(&*db.store, one.id).await, Retrying::Duplicate(two.id));
    assert_eq!(retry(&*db.store, two.id).await, Retrying::NoTarget, "it runs again");
}

/// As a caller's own statement may: on a file it has all of it.
async fn a_retry_in_line_behind_the_retry_of_its_twin_goes_on_only_if_that_never_was(db: Db) {
    for commits in [true, false] {
        let (one, two) = (failed(&db, Some("m:1")).await, failed(&db, Some("m:1")).await);
        let mut tx = db.begin().await;
        tx.run(format!("UPDATE gen_durable SET status = 'runnable' WHERE id = {}", one.id)).await;
        let (store, id) = (Arc::clone(&db.store), two.id);
        let retrying = in_line(&db, 1, async move { retry(&*store, id).await }).await;
        if commits {
            tx.commit().await;
        } else {
            tx.rollback().await;
        }
        let expected = if commits { Retrying::Duplicate(one.id) } else { goes(two.id) };
        assert_eq!(retrying.await.expect("no panic"), expected);
        clear(&db).await;
    }
}

async fn of_two_with_one_key_that_are_retried_at_once_one_goes_on(db: Db) {
    let other = suite::store_options(&db.url).open().expect("a store");
    for _ in 0..suite::size(100) {
        let (one, two) = (failed(&db, Some("m:1")).await, failed(&db, Some("m:1")).await);
        let answers = tokio::join!(retry(&*db.store, one.id), retry(&*other, two.id));
        let expected = [(goes(one.id), Retrying::Duplicate(one.id)), (Retrying::Duplicate(two.id), goes(two.id))];
        assert!(expected.contains(&answers), "{answers:?}");
        clear(&db).await;
    }
    other.close().await.expect("closes");
}

/// Reaped from under the first claim, it fails under the second, is retried, and claimed for the third time.
async fn a_late_commit_of_an_older_claim_changes_nothing_before_or_after_a_retry(db: Db) {
    for nth in 0..ended::ALL {
        begin(&db, &[start()]).await;
        let lost = claim(&db, "w#1").await.remove(0);
        let (name, t) = endings(&lost).swap_remove(nth);
        reap(&db).await;
        let second = claim(&db, "w#2").await.remove(0);
        assert_eq!(commit(&db, &[fail(&second)]).await, [Committed::Done]);
        let late = async |when: &str| {
            let before = db.row(lost.id).await;
            assert_eq!(commit(&db, std::slice::from_ref(&t)).await, [Committed::ClaimLost], "{name} {when}");
            assert_eq!((db.row(lost.id).await, db.count(ALL).await), (before, 1), "{name} {when}");
        };
        late("once it has failed").await;
        assert_eq!(retry(&*db.store, lost.id).await, goes(lost.id));
        late("once it was retried").await;
        let third = claim(&db, "w#3").await.remove(0);
        assert_eq!(
            (third.transitions, third.errors, third.crashes),
            (lost.transitions, 0, 0),
            "{name}: the same visit"
        );
        late("once it runs again").await;
        assert_eq!(commit(&db, &[done(&third)]).await, [Committed::Done], "{name}");
        late("once it is done").await;
        clear(&db).await;
    }
}

const ALL: &str = "SELECT count(*) FROM gen_durable";

/// The answer to the failure was lost; before it is sent again someone retries the instance.
async fn a_failure_that_is_sent_again_after_its_retry_fails_nobody(db: Db) {
    for claimed in [false, true] {
        let c = failed(&db, None).await;
        assert_eq!(retry(&*db.store, c.id).await, goes(c.id));
        let again = if claimed { claim(&db, "w#2").await } else { vec![] };
        let before = db.row(c.id).await;
        assert_eq!(commit(&db, &[fail(&c)]).await, [Committed::ClaimLost]);
        assert_eq!(db.row(c.id).await, before);
        for c in again {
            assert_eq!(commit(&db, &[done(&c)]).await, [Committed::Done]);
        }
        clear(&db).await;
    }
}

/// Before it, while it is under way, and after it; another outcome leaves nobody to retry.
async fn a_retry_before_the_failure_finds_nobody_and_after_it_the_instance(db: Db) {
    for nth in 0..ended::ALL {
        let id = begin(&db, &[start()]).await[0];
        assert_eq!(retry(&*db.store, id).await, Retrying::NoTarget);
        let (name, t) = endings(&claim(&db, "w#1").await[0]).swap_remove(nth);
        assert_eq!(retry(&*db.store, id).await, Retrying::NoTarget);
        let under_way = Paused::begin(&db, vec![t]).await;
        // It sees a row that runs, and does not wait; on a file it waits, and sees what became of it.
        let store = Arc::clone(&db.store);
        let retrying = tokio::spawn(async move { retry(&*store, id).await });
        if db.store.dialect() == "postgres" {
            assert_eq!(retrying.await.expect("no panic"), Retrying::NoTarget, "{name}");
            under_way.end().await;
        } else {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            assert!(!retrying.is_finished(), "{name}");
            under_way.end().await;
            let expected = if name == "fails" { goes(id) } else { Retrying::NoTarget };
            assert_eq!(retrying.await.expect("no panic"), expected, "{name}");
            clear(&db).await;
            continue;
        }
        let expected = if name == "fails" { goes(id) } else { Retrying::NoTarget };
        assert_eq!(retry(&*db.store, id).await, expected, "{name}");
        clear(&db).await;
    }
}

/// Someone holds the row; on a file all of it.
async fn two_retries_in_line_for_one_instance_let_it_go_on_once(db: Db) {
    let other = suite::store_options(&db.url).open().expect("a store");
    for key in [None, Some("m:1")] {
        let c = failed(&db, key).await;
        let held = db.hold().await;
        let (id, one, two) = (c.id, Arc::clone(&db.store), Arc::clone(&other));
        let one = in_line(&db, 1, async move { retry(&*one, id).await }).await;
        let two = in_line(&db, 2, async move { retry(&*two, id).await }).await;
        held.rollback().await;
        let answers = [one.await.expect("no panic"), two.await.expect("no panic")];
        assert!(answers.contains(&goes(id)) && answers.contains(&Retrying::NoTarget), "{answers:?}");
        assert_eq!(claim(&db, "w#2").await.len(), 1);
        clear(&db).await;
    }
    other.close().await.expect("closes");
}

async fn a_retry_and_a_cancel_settle_who_was_last(db: Db) {
    let c = failed(&db, None).await;
    assert_eq!(asked(&cancel(&*db.store, c.id).await), None, "it has ended");
    assert_eq!(retry(&*db.store, c.id).await, goes(c.id));
    assert_eq!(asked(&cancel(&*db.store, c.id).await), Some(false));
    let again = claim(&db, "w#2").await.remove(0);
    assert!(again.cancelled);
    assert_eq!(commit(&db, &[plan::cancelled(&again, None)]).await, [Committed::Done]);
    // What was cancelled has failed, and may be retried: the cancel is over.
    assert_eq!(retry(&*db.store, c.id).await, goes(c.id));
    let again = claim(&db, "w#3").await.remove(0);
    assert!(!again.cancelled);
    assert_eq!(commit(&db, &[goto(&again, suite::entry("b"))]).await, [Committed::Done]);
}

/// Its parent waits on, goes on, or has ended; the retried child ends with a result or fails again.
async fn a_child_that_is_retried_counts_once_whatever_it_comes_to(db: Db) {
    for parent_is in ["waiting", "running", "done"] {
        for ends in [done as fn(&Claim) -> Transition, fail] {
            let (parent, c) = family(&db, 2, join(None, None)).await;
            assert!(commit(&db, &[fail(&c[0])]).await.wakes.is_empty());
            if parent_is != "waiting" {
                assert!(commit(&db, &[done(&c[1])]).await.wakes.contains("default"));
                let joins = claim_of(&db, "p#2", parent.id).await;
                if parent_is == "done" {
                    assert_eq!(commit(&db, &[done(&joins)]).await, [Committed::Done]);
                }
            }
            let before = (waits_for(&db, parent.id).await, counts(&db, &parent).await);
            assert_eq!(retry(&*db.store, c[0].id).await, goes(c[0].id));
            let again = claim_of(&db, "c#2", c[0].id).await;
            let commits = commit(&db, &[ends(&again)]).await;
            assert_eq!(commits, [Committed::Done]);
            assert!(commits.wakes.is_empty(), "{parent_is}: {commits:?}");
            assert_eq!(waits_for(&db, parent.id).await, before.0, "{parent_is}");
            let (all, ok, no) = counts(&db, &parent).await;
            assert_eq!((all, ok + no), (before.1.0, before.1.1 + before.1.2), "{parent_is}");
            if parent_is == "waiting" {
                assert!(commit(&db, &[done(&c[1])]).await.wakes.contains("default"));
            }
            clear(&db).await;
        }
    }
}

/// A quorum woke it; its join step failed; the late child ends before the retry or after it.
async fn a_parent_that_failed_and_is_retried_sees_the_round_that_it_saw(db: Db) {
    for retry_first in [true, false] {
        let (parent, c) = family(&db, 2, join(Some(1), None)).await;
        commit(&db, &[done(&c[0])]).await;
        let joins = claim_of(&db, "p#2", parent.id).await;
        let seen = counts(&db, &parent).await;
        assert_eq!(commit(&db, &[fail(&joins)]).await, [Committed::Done]);
        if retry_first {
            assert_eq!(retry(&*db.store, parent.id).await, goes(parent.id));
        }
        assert!(commit(&db, &[done(&c[1])]).await.wakes.is_empty());
        if !retry_first {
            assert_eq!(retry(&*db.store, parent.id).await, goes(parent.id));
        }
        let again = claim_of(&db, "p#3", parent.id).await;
        assert_eq!((again.step.as_str(), again.transitions), ("j", joins.transitions));
        assert_eq!(counts(&db, &parent).await, seen);
        clear(&db).await;
    }
}

async fn what_a_failed_visit_received_is_what_its_retry_sees(db: Db) {
    let spec = gen_durable_runtime::model::StartSpec { entry: crate::waiting(), ..start() };
    let id = begin(&db, &[spec]).await[0];
    let send = async |name| db.store.signal(&[crate::signal(id, name)]).await.expect("answers").remove(0).delivered;
    let _ = (send("B").await, send("A").await);
    let c = claim(&db, "w#1").await.remove(0);
    assert_eq!(commit(&db, &[fail(&c)]).await, [Committed::Done]);
    assert_eq!(send("A").await, gen_durable_runtime::store::Delivered::NoTarget);
    assert_eq!(retry(&*db.store, id).await, goes(id));
    let _ = send("A").await;
    assert_eq!(claim(&db, "w#2").await[0].wake, c.wake);
}
