//! Business keys of children and spawned instances, taken by several at once.

use gen_durable_runtime::model::Committed;
#[cfg(feature = "postgres")]
use gen_durable_runtime::model::{Effects, Transition};
use suite::{Db, start, store_options};

use crate::{begin, claim, fan_out, insist, join, keyed};
#[cfg(feature = "postgres")]
use crate::{commit, done, outcome, signal, status, to, waits_for};

suite::stores! {
    both(flavor = "multi_thread", worker_threads = 2) {
        fan_outs_of_the_same_keys_in_opposite_orders_insert_each_once_and_never_deadlock,
    }
    postgres {
        a_key_that_a_caller_is_starting_makes_only_its_own_fan_out_busy => "an open transaction that writes has the whole file",
        a_caller_and_a_fan_out_that_want_each_others_rows_never_deadlock => "an open transaction that writes has the whole file",
    }
}

async fn fan_outs_of_the_same_keys_in_opposite_orders_insert_each_once_and_never_deadlock(db: Db) {
    let other = store_options(&db.url).open().expect("a store");
    for _ in 0..suite::size(40) {
        begin(&db, &[start(), start()]).await;
        let parents = claim(&db, "p#1").await;
        let children = || (0..60).map(|n| keyed(&format!("m:{n}")));
        let one = [fan_out(&parents[0], children().collect(), join(None, None))];
        let two = [fan_out(&parents[1], children().rev().collect(), join(None, None))];
        let (one, two) = tokio::join!(insist(&*db.store, &one), insist(&*other, &two));
        for commits in one.iter().chain(&two) {
            assert!(matches!(commits[0], Committed::Parked | Committed::Done | Committed::Busy), "{commits:?}");
        }
        assert_eq!(db.count("SELECT count(*) FROM gen_durable").await, 62);
        assert_eq!(db.count("SELECT sum(children_pending)::bigint FROM gen_durable").await, 60);
        assert_eq!(db.count("SELECT count(*) FROM gen_durable WHERE parent_id IS NOT NULL").await, 60);
        db.run("DELETE FROM gen_durable").await;
    }
    other.close().await.expect("closes");
}

/// Someone starts an instance with this key, and has not committed yet.
#[cfg(feature = "postgres")]
async fn starting(db: &Db, key: &str) -> suite::Tx {
    let mut tx = db.begin().await;
    tx.run(format!(
        "INSERT INTO gen_durable (fsm, step, status, state, queue, correlation_key, correlation_scope)
         VALUES ('m', 'a', 'runnable', '{{}}', 'default', '{key}', '{{runnable,executing}}')"
    ))
    .await;
    tx
}

/// Those of the engine.
#[cfg(feature = "postgres")]
const CONNECTIONS: &str = "SELECT string_agg(pid::text, ' ' ORDER BY pid) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'gen-durable'";

/// The neighbours in its batch are durable at once, those with keys of their own as well.
#[cfg(feature = "postgres")]
async fn a_key_that_a_caller_is_starting_makes_only_its_own_fan_out_busy(db: Db) {
    begin(&db, &vec![start(); 4]).await;
    let c = claim(&db, "w#1").await;
    let spawned = Effects { spawned: vec![keyed("m:taken")], ..Effects::default() };
    let batch: Vec<Transition> = vec![
        done(&c[0]),
        fan_out(&c[1], vec![start(), keyed("m:taken")], join(None, None)),
        fan_out(&c[2], vec![keyed("m:free")], join(None, None)),
        outcome(&c[3], to(suite::entry("b")), spawned),
    ];
    let caller = starting(&db, "m:taken").await;
    let before = db.text(CONNECTIONS).await;
    let answers = commit(&db, &batch).await;
    assert_eq!(answers, [Committed::Done, Committed::Busy, Committed::Parked, Committed::Busy]);
    assert_eq!(db.count("SELECT count(*) FROM gen_durable").await, 5);
    // A busy pool may have opened another.
    let after = db.text(CONNECTIONS).await;
    let stands = |pid| after.split(' ').any(|known| known == pid);
    assert!(before.split(' ').all(stands), "none was thrown away: {before}, {after}");
    caller.commit().await;
    assert_eq!(commit(&db, &batch).await, [Committed::Done, Committed::Parked, Committed::Done, Committed::Done]);
    assert_eq!((waits_for(&db, c[1].id).await, status(&db, c[3].id).await), ((1, 0), "runnable".into()));
    assert_eq!(db.count("SELECT count(*) FROM gen_durable").await, 7, "whose key it was stands once");
}

/// The caller has the key and waits for the row; the fan-out has the row and wants the key.
#[cfg(feature = "postgres")]
async fn a_caller_and_a_fan_out_that_want_each_others_rows_never_deadlock(db: Db) {
    let id = begin(&db, &[start()]).await[0];
    let c = claim(&db, "w#1").await.remove(0);
    let batch = [fan_out(&c, vec![keyed("m:taken")], join(None, None))];
    let mut caller = starting(&db, "m:taken").await;
    let both = async {
        let answers = commit(&db, &batch).await;
        assert_eq!(answers, [Committed::Busy]);
    };
    let theirs = async {
        for _ in 0..20 {
            caller.run(format!("SELECT 1 FROM gen_durable WHERE id = {id} FOR NO KEY UPDATE")).await;
        }
    };
    tokio::join!(both, theirs);
    assert_eq!(db.store.signal(&[signal(begin(&db, &[start()]).await[0], "A")]).await.expect("delivers").len(), 1);
    caller.commit().await;
    assert_eq!(commit(&db, &batch).await, [Committed::Done], "its only child stands already");
}
