//! A cancel beside a commit of the row that it asks to end.

use std::sync::Arc;

use gen_durable_runtime::{
    model::{Claim, Committed, Entry, InstanceId, Target, Transition, Wake, plan},
    store::{Cancelling, Store},
};
use suite::{Db, entry, start};

use crate::{
    RULES, begin, claim, commit, done, ended, endings, goto, paused::Paused, paused::in_line, reap, signal, status,
    waiting,
};

suite::stores! {
    both {
        a_cancel_before_a_commit_drops_all_but_an_end_and_leaves_the_claim,
        a_cancel_after_a_commit_takes_what_it_came_to_or_finds_nobody,
        a_cancel_in_line_behind_a_commit_sees_what_it_came_to,
        a_cancelled_row_that_was_reaped_is_its_next_claims_to_end,
        an_outcome_that_is_sent_again_after_a_cancel_is_known_to_have_landed,
        a_shielded_step_is_left_before_a_cancel_counts_in_either_order,
        a_wait_that_is_not_over_and_a_cancel_never_leave_it_parked,
        a_cancel_and_a_signal_are_both_there_in_either_order,
        the_neighbours_of_a_cancelled_row_are_committed_with_it,
    }
    postgres {
        a_commit_that_meets_a_cancel_in_line_is_busy_and_then_dropped => "a file has no row locks",
    }
}

pub(crate) async fn cancel(store: &dyn Store, id: InstanceId) -> Cancelling {
    store.cancel(&[Target::Id(id)], "x").await.expect("asks").remove(0)
}

/// Whether it was running as it was asked, if it was there at all.
pub(crate) fn asked(answer: &Cancelling) -> Option<bool> {
    match answer {
        Cancelling::Asked { executing, .. } => Some(*executing),
        Cancelling::NoTarget => None,
    }
}

/// Out of a cancelled row, to its `on_cancel`.
pub(crate) fn leaves(claim: &Claim) -> Transition {
    let exit = Entry { shielded: true, ..entry("b") };
    Transition { started: Some(jiff::Timestamp::now()), ..plan::exited(claim, exit, None, RULES).expect("a plan") }
}

/// The claim of this one among all that is due.
pub(crate) async fn claim_of(db: &Db, token: &str, id: InstanceId) -> Claim {
    claim(db, token).await.into_iter().find(|c| c.id == id).expect("it is due")
}

const ALL: &str = "SELECT count(*) FROM gen_durable";
const LINES: &str = "SELECT count(*) FROM gen_durable_history";

async fn clear(db: &Db) {
    db.run("DELETE FROM gen_durable").await;
    db.run("DELETE FROM gen_durable_history").await;
}

async fn a_cancel_before_a_commit_drops_all_but_an_end_and_leaves_the_claim(db: Db) {
    for nth in 0..ended::ALL {
        let id = begin(&db, &[start()]).await[0];
        let c = claim(&db, "w#1").await.remove(0);
        let (name, t) = endings(&c).swap_remove(nth);
        assert_eq!(asked(&cancel(&*db.store, id).await), Some(true), "{name}");
        let before = db.row(id).await;
        let commits = commit(&db, std::slice::from_ref(&t)).await;
        assert_eq!(commits, [ended::cancelled(name, &t)], "{name}");
        if commits == [Committed::Done] {
            assert_eq!(asked(&cancel(&*db.store, id).await).is_none(), t.ends(), "{name}");
            assert!(t.ends() || claim_of(&db, "w#2", id).await.cancelled, "{name}");
            clear(&db).await;
            continue;
        }
        assert!(commits.wakes.is_empty(), "{name}: {commits:?}");
        assert_eq!((db.row(id).await, db.count(ALL).await, db.count(LINES).await), (before, 1, 0), "{name}");
        // The claim still stands: it takes the exit.
        assert_eq!(commit(&db, &[leaves(&c)]).await, [Committed::Done], "{name}");
        let exit = claim_of(&db, "w#2", id).await;
        assert_eq!((exit.step.as_str(), exit.cancelled, exit.transitions), ("b", false, 1), "{name}");
        assert_eq!(db.count(LINES).await, 1, "{name}");
        clear(&db).await;
    }
}

/// What a commit came to, once the cancel that came after it was answered.
async fn after_its_commit(db: &Db, name: &str, id: InstanceId, t: &Transition, answer: &Cancelling) {
    if t.ends() {
        assert_eq!(asked(answer), None, "{name}: it has ended");
        return;
    }
    let runs = name == ended::IN_PLACE;
    assert_eq!(asked(answer), Some(runs), "{name}");
    if runs {
        return;
    }
    assert_eq!(status(db, id).await, "runnable", "{name}: due at once, whatever it waited for");
    let next = claim_of(db, "w#2", id).await;
    assert!(next.cancelled, "{name}");
    assert_eq!(commit(db, &[leaves(&next)]).await, [Committed::Done], "{name}");
    assert_eq!(claim_of(db, "w#3", id).await.step, "b", "{name}");
}

async fn a_cancel_after_a_commit_takes_what_it_came_to_or_finds_nobody(db: Db) {
    for nth in 0..ended::ALL {
        let id = begin(&db, &[start()]).await[0];
        let (name, t) = endings(&claim(&db, "w#1").await[0]).swap_remove(nth);
        let committed = commit(&db, std::slice::from_ref(&t)).await[0];
        assert!(matches!(committed, Committed::Done | Committed::Parked | Committed::Kept), "{name}: {committed:?}");
        let answer = cancel(&*db.store, id).await;
        after_its_commit(&db, name, id, &t, &answer).await;
        clear(&db).await;
    }
}

/// As the other order, with the cancel asked for while the commit is under way.
async fn a_cancel_in_line_behind_a_commit_sees_what_it_came_to(db: Db) {
    for nth in 0..ended::ALL {
        let id = begin(&db, &[start()]).await[0];
        let (name, t) = endings(&claim(&db, "w#1").await[0]).swap_remove(nth);
        let under_way = Paused::begin(&db, vec![t.clone()]).await;
        let store = Arc::clone(&db.store);
        let cancelling = in_line(&db, 1, async move { cancel(&*store, id).await }).await;
        let committed = under_way.end().await[0];
        assert!(matches!(committed, Committed::Done | Committed::Parked | Committed::Kept), "{name}: {committed:?}");
        let answer = cancelling.await.expect("no panic");
        after_its_commit(&db, name, id, &t, &answer).await;
        clear(&db).await;
    }
}

#[cfg(feature = "postgres")]
async fn a_commit_that_meets_a_cancel_in_line_is_busy_and_then_dropped(db: Db) {
    for nth in 0..ended::ALL {
        let id = begin(&db, &[start()]).await[0];
        let (name, t) = endings(&claim(&db, "w#1").await[0]).swap_remove(nth);
        let held = crate::hold(&db, id).await;
        let store = Arc::clone(&db.store);
        let cancelling = in_line(&db, 1, async move { cancel(&*store, id).await }).await;
        assert_eq!(commit(&db, std::slice::from_ref(&t)).await, [Committed::Busy], "{name}");
        held.rollback().await;
        assert_eq!(asked(&cancelling.await.expect("no panic")), Some(true), "{name}");
        let expected = ended::cancelled(name, &t);
        assert_eq!(commit(&db, &[t]).await, [expected], "{name}");
        clear(&db).await;
    }
}

/// The cancel comes before the reap or after it.
async fn a_cancelled_row_that_was_reaped_is_its_next_claims_to_end(db: Db) {
    for nth in 0..ended::ALL {
        for cancel_first in [true, false] {
            let id = begin(&db, &[start()]).await[0];
            let c = claim(&db, "w#1").await.remove(0);
            let (name, t) = endings(&c).swap_remove(nth);
            if cancel_first {
                cancel(&*db.store, id).await;
            }
            assert_eq!(reap(&db).await, 1, "{name}");
            if !cancel_first {
                assert_eq!(asked(&cancel(&*db.store, id).await), Some(false), "{name}");
            }
            let before = db.row(id).await;
            assert_eq!(commit(&db, &[t, leaves(&c)]).await, [ended::reaped(name), Committed::ClaimLost], "{name}");
            assert_eq!((db.row(id).await, db.count(ALL).await), (before, 1), "{name}");
            let next = claim_of(&db, "w#2", id).await;
            assert!(next.cancelled, "{name}");
            let end = plan::cancelled(&next, None);
            assert_eq!(commit(&db, &[end]).await, [Committed::Done], "{name}");
            let said = db.text(format!("SELECT status || ' ' || last_error FROM gen_durable WHERE id = {id}")).await;
            assert_eq!(said, "failed cancelled: x", "{name}");
            clear(&db).await;
        }
    }
}

/// Its answer was lost, and the cancel came in between: nobody may take it for dropped.
async fn an_outcome_that_is_sent_again_after_a_cancel_is_known_to_have_landed(db: Db) {
    for nth in 0..ended::ALL {
        let id = begin(&db, &[start()]).await[0];
        let (name, t) = endings(&claim(&db, "w#1").await[0]).swap_remove(nth);
        commit(&db, std::slice::from_ref(&t)).await;
        cancel(&*db.store, id).await;
        let before = (db.row(id).await, db.count(ALL).await, db.count(LINES).await);
        let again = commit(&db, &[t]).await[0];
        let expected = if name == ended::IN_PLACE { Committed::Kept } else { Committed::Done };
        assert_eq!(again, expected, "{name}");
        assert_eq!((db.row(id).await, db.count(ALL).await, db.count(LINES).await), before, "{name}");
        clear(&db).await;
    }
}

/// What leaves it is written; what enters another shielded one is not yet what the cancel takes.
async fn a_shielded_step_is_left_before_a_cancel_counts_in_either_order(db: Db) {
    for nth in 0..ended::ALL {
        for cancel_first in [true, false] {
            let shielded = Entry { shielded: true, ..entry("a") };
            let id = begin(&db, &[gen_durable_runtime::model::StartSpec { entry: shielded, ..start() }]).await[0];
            let c = claim(&db, "w#1").await.remove(0);
            let (name, t) = endings(&c).swap_remove(nth);
            if cancel_first {
                assert_eq!(asked(&cancel(&*db.store, id).await), Some(false), "{name}: its run is not told");
            }
            let committed = commit(&db, std::slice::from_ref(&t)).await[0];
            assert_ne!(committed, Committed::Cancelled, "{name}");
            if cancel_first && !t.ends() {
                // In place as well: it goes on nowhere.
                assert_eq!((committed, status(&db, id).await.as_str()), (Committed::Done, "runnable"), "{name}");
            }
            if !cancel_first {
                let answer = cancel(&*db.store, id).await;
                assert_eq!(asked(&answer).is_none(), t.ends(), "{name}");
            }
            if !t.ends() && (name != ended::IN_PLACE || cancel_first) {
                let next = claim_of(&db, "w#2", id).await;
                // The same visit once more is shielded as before.
                assert_eq!(next.cancelled, !ended::STAYS.contains(&name), "{name}");
            }
            clear(&db).await;
        }
    }
}

async fn a_wait_that_is_not_over_and_a_cancel_never_leave_it_parked(db: Db) {
    for cancel_first in [true, false] {
        let spec = gen_durable_runtime::model::StartSpec { entry: waiting(), ..start() };
        let id = begin(&db, &[spec]).await[0];
        // As after two deliveries in line: woken to look again.
        db.run("UPDATE gen_durable SET status = 'runnable'").await;
        let c = claim(&db, "w#1").await.remove(0);
        assert_eq!(c.wake, Wake::Unsatisfied);
        let park = plan::repark(&c);
        if cancel_first {
            assert_eq!(asked(&cancel(&*db.store, id).await), Some(true));
            assert_eq!(commit(&db, &[park]).await, [Committed::Cancelled]);
            assert_eq!(commit(&db, &[leaves(&c)]).await, [Committed::Done]);
        } else {
            assert_eq!(commit(&db, &[park]).await, [Committed::Parked]);
            assert_eq!(asked(&cancel(&*db.store, id).await), Some(false));
            assert!(claim_of(&db, "w#2", id).await.cancelled);
        }
        clear(&db).await;
    }
}

/// The signal stays in the inbox: the visit that it ended was seen by nobody.
async fn a_cancel_and_a_signal_are_both_there_in_either_order(db: Db) {
    for cancel_first in [true, false] {
        let spec = gen_durable_runtime::model::StartSpec { entry: waiting(), ..start() };
        let id = begin(&db, &[spec]).await[0];
        if cancel_first {
            assert_eq!(asked(&cancel(&*db.store, id).await), Some(false));
        }
        db.store.signal(&[signal(id, "A"), signal(id, "B")]).await.expect("delivers");
        if !cancel_first {
            assert_eq!(asked(&cancel(&*db.store, id).await), Some(false));
        }
        let c = claim(&db, "w#1").await.remove(0);
        assert!(c.cancelled);
        assert_eq!(commit(&db, &[leaves(&c)]).await, [Committed::Done]);
        assert_eq!(db.count("SELECT count(*) FROM signals WHERE consumed_at IS NULL").await, 2);
        clear(&db).await;
    }
}

async fn the_neighbours_of_a_cancelled_row_are_committed_with_it(db: Db) {
    for nth in 0..ended::ALL {
        begin(&db, &[start(), start(), start()]).await;
        let c = claim(&db, "w#1").await;
        let (name, t) = endings(&c[1]).swap_remove(nth);
        cancel(&*db.store, c[1].id).await;
        let ours = ended::cancelled(name, &t);
        let commits = commit(&db, &[goto(&c[0], waiting()), t, done(&c[2])]).await;
        assert_eq!(commits, [Committed::Parked, ours, Committed::Done], "{name}");
        clear(&db).await;
    }
}
