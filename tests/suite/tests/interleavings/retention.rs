//! A delete by age beside retries and commits: of the same row, of its parent, of its child.

use std::{sync::Arc, time::Duration};

use gen_durable_runtime::{
    model::{Committed, InstanceId, Purged, Status, Target},
    store::{Ended, Purge, Retrying, Store},
};
use suite::{Db, start};

use crate::{
    begin, claim, commit, counts, done, fail, family, join,
    paused::{Paused, in_line},
    status,
};

suite::stores! {
    both {
        a_retry_that_is_under_way_keeps_its_instance,
        a_retry_of_one_that_went_finds_nobody,
        a_child_stays_until_the_commit_that_ends_its_parent_is_there,
        a_failed_parent_that_is_retried_finds_the_round_that_it_saw,
        a_child_whose_parent_went_meanwhile_ends,
        a_parent_never_goes_under_the_commit_of_its_child,
    }
    postgres {
        a_retry_in_line_behind_a_delete_goes_on_only_if_that_never_was => "a file has no row locks: who holds it holds all of it",
        a_retry_between_the_look_and_the_lock_keeps_its_instance => "a file has no locks of tables",
        a_fan_out_of_another_engine_keeps_its_parent => "a file has no row locks: who holds it holds all of it",
    }
}

const DAY: Duration = Duration::from_secs(24 * 3_600);

async fn purge(store: &dyn Store) -> Purged {
    let of = |status| Ended { machine: "m".into(), version: 1, status };
    let ended = [of(Status::Done), of(Status::Failed)];
    let purge = Purge { age: 7 * DAY, ended: &ended, from: None, look: 100, limit: 100 };
    store.purge(&purge).await.expect("looks")
}

async fn age(db: &Db, ids: &[InstanceId]) {
    for id in ids {
        db.run(format!("UPDATE gen_durable SET updated_at = now() - interval '8 d' WHERE id = {id}")).await;
    }
}

async fn is_there(db: &Db, id: InstanceId) -> bool {
    db.count(format!("SELECT count(*) FROM gen_durable WHERE id = {id}")).await == 1
}

async fn failed(db: &Db) -> InstanceId {
    let id = begin(db, &[start()]).await[0];
    let c = claim(db, "w#1").await.remove(0);
    assert_eq!(commit(db, &[fail(&c)]).await, [Committed::Done]);
    age(db, &[id]).await;
    id
}

/// It does not wait; on a file it does, and looks at what stands then.
async fn a_retry_that_is_under_way_keeps_its_instance(db: Db) {
    for commits in [true, false] {
        let id = failed(&db).await;
        let mut tx = db.begin().await;
        tx.run(format!("UPDATE gen_durable SET status = 'runnable', updated_at = now() WHERE id = {id}")).await;
        if db.store.dialect() == "postgres" {
            assert_eq!((purge(&*db.store).await.due, is_there(&db, id).await), (1, true));
            if commits {
                tx.commit().await
            } else {
                tx.rollback().await
            }
            assert_eq!(purge(&*db.store).await.gone, usize::from(!commits));
        } else {
            let store = Arc::clone(&db.store);
            let waits = in_line(&db, 1, async move { purge(&*store).await }).await;
            if commits {
                tx.commit().await
            } else {
                tx.rollback().await
            }
            let purged = waits.await.expect("no panic");
            assert_eq!((purged.due, purged.gone), (1, usize::from(!commits)));
        }
        assert_eq!(is_there(&db, id).await, commits);
        db.run("DELETE FROM gen_durable").await;
    }
}

async fn a_retry_of_one_that_went_finds_nobody(db: Db) {
    let id = failed(&db).await;
    assert_eq!(purge(&*db.store).await.gone, 1);
    assert_eq!(db.store.retry(&Target::Id(id)).await.expect("answers"), Retrying::NoTarget);
}

/// The look asks nothing of signals; the statement that locks does, and somebody holds them.
#[cfg(feature = "postgres")]
async fn a_retry_between_the_look_and_the_lock_keeps_its_instance(db: Db) {
    let id = failed(&db).await;
    let mut tx = db.begin().await;
    tx.run("LOCK TABLE signals").await;
    let store = Arc::clone(&db.store);
    let purging = in_line(&db, 1, async move { purge(&*store).await }).await;
    assert!(matches!(db.store.retry(&Target::Id(id)).await.expect("answers"), Retrying::Goes { .. }));
    tx.rollback().await;
    let purged = purging.await.expect("no panic");
    assert_eq!((purged.due, purged.gone, is_there(&db, id).await), (1, 0, true));
}

/// A delete that stands still half way: somebody holds a row that goes with it.
#[cfg(feature = "postgres")]
async fn a_retry_in_line_behind_a_delete_goes_on_only_if_that_never_was(db: Db) {
    let id = failed(&db).await;
    db.run(format!("INSERT INTO gen_durable_held (instance_id, key, shard) VALUES ({id}, 'k', 0)")).await;
    let mut tx = db.begin().await;
    tx.run("SELECT FROM gen_durable_held FOR UPDATE").await;
    let store = Arc::clone(&db.store);
    let purging = in_line(&db, 1, async move { purge(&*store).await }).await;
    let store = Arc::clone(&db.store);
    let retrying = in_line(&db, 2, async move { store.retry(&Target::Id(id)).await.expect("answers") }).await;
    tx.rollback().await;
    assert_eq!(purging.await.expect("no panic").gone, 1);
    assert_eq!(retrying.await.expect("no panic"), Retrying::NoTarget);
    assert!(!is_there(&db, id).await);
}

async fn a_child_stays_until_the_commit_that_ends_its_parent_is_there(db: Db) {
    let (parent, c) = family(&db, 2, join(None, None)).await;
    commit(&db, &[done(&c[0]), fail(&c[1])]).await;
    age(&db, &[c[0].id, c[1].id]).await;
    assert_eq!(purge(&*db.store).await.due, 0, "it is woken, and will read them");
    let joins = claim(&db, "p#2").await.remove(0);
    assert_eq!((joins.id, purge(&*db.store).await.due), (parent.id, 0), "it reads them");
    let under_way = Paused::begin(&db, vec![done(&joins)]).await;
    assert_eq!(purge(&*db.store).await.due, 0, "its end may not come to be");
    under_way.end().await;
    assert_eq!(purge(&*db.store).await.gone, 2);
    assert_eq!(status(&db, parent.id).await, "done");
}

async fn a_failed_parent_that_is_retried_finds_the_round_that_it_saw(db: Db) {
    let (parent, c) = family(&db, 2, join(None, None)).await;
    commit(&db, &[done(&c[0]), fail(&c[1])]).await;
    let joins = claim(&db, "p#2").await.remove(0);
    let seen = counts(&db, &parent).await;
    assert_eq!(commit(&db, &[fail(&joins)]).await, [Committed::Done]);
    age(&db, &[c[0].id, c[1].id]).await;
    assert_eq!(purge(&*db.store).await.due, 0);
    assert!(matches!(db.store.retry(&Target::Id(parent.id)).await.expect("answers"), Retrying::Goes { .. }));
    assert_eq!((purge(&*db.store).await.due, counts(&db, &parent).await), (0, seen));
    // It fails again, and comes of age itself: it goes, and they with the next pass.
    let joins = claim(&db, "p#3").await.remove(0);
    assert_eq!(commit(&db, &[fail(&joins)]).await, [Committed::Done]);
    age(&db, &[parent.id]).await;
    assert_eq!((purge(&*db.store).await.gone, is_there(&db, parent.id).await), (1, false));
    assert_eq!(purge(&*db.store).await.gone, 2);
}

/// A parent that did not wait for all: the other child runs, and its claim knows a parent that is no more.
async fn a_child_whose_parent_went_meanwhile_ends(db: Db) {
    for ends in [done, fail] {
        let (parent, c) = family(&db, 2, join(Some(1), None)).await;
        commit(&db, &[done(&c[0])]).await;
        let joins = claim(&db, "p#2").await.remove(0);
        assert_eq!(commit(&db, &[done(&joins)]).await, [Committed::Done]);
        age(&db, &[parent.id]).await;
        let purged = purge(&*db.store).await;
        assert_eq!((purged.gone, purged.cleared, is_there(&db, parent.id).await), (1, 2, false));
        assert_eq!(commit(&db, &[ends(&c[1])]).await, [Committed::Done]);
        db.run("DELETE FROM gen_durable").await;
    }
}

/// The commit holds the parent, and the child; on a file all of it. Then the delete is turned away, or comes after.
async fn a_parent_never_goes_under_the_commit_of_its_child(db: Db) {
    let (parent, c) = family(&db, 2, join(Some(1), None)).await;
    commit(&db, &[done(&c[0])]).await;
    let joins = claim(&db, "p#2").await.remove(0);
    assert_eq!(commit(&db, &[done(&joins)]).await, [Committed::Done]);
    age(&db, &[parent.id]).await;
    let under_way = Paused::begin(&db, vec![done(&c[1])]).await;
    if db.store.dialect() == "postgres" {
        let purged = purge(&*db.store).await;
        assert_eq!((purged.due, purged.gone, is_there(&db, parent.id).await), (1, 0, true));
        assert_eq!(under_way.end().await, [Committed::Done]);
        assert_eq!(purge(&*db.store).await.gone, 1);
    } else {
        let store = Arc::clone(&db.store);
        let waits = in_line(&db, 1, async move { purge(&*store).await }).await;
        assert_eq!(under_way.end().await, [Committed::Done]);
        assert_eq!(waits.await.expect("no panic").gone, 1);
    }
    assert_eq!(status(&db, c[1].id).await, "done");
}

/// A child that is not committed yet: its foreign key holds the parent.
#[cfg(feature = "postgres")]
async fn a_fan_out_of_another_engine_keeps_its_parent(db: Db) {
    let id = failed(&db).await;
    let mut tx = db.begin().await;
    tx.run(format!("INSERT INTO gen_durable (fsm, step, parent_id) VALUES ('theirs', 'a', {id})")).await;
    let purged = purge(&*db.store).await;
    assert_eq!((purged.due, purged.gone), (1, 0));
    tx.commit().await;
    assert_eq!(purge(&*db.store).await.gone, 1);
    assert_eq!(db.count("SELECT count(*) FROM gen_durable WHERE fsm = 'theirs' AND parent_id IS NULL").await, 1);
}
