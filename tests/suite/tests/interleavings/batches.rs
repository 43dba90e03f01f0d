//! What stands side by side in one batch.

use gen_durable_runtime::model::{Committed, Effects};
use suite::{Db, entry, start};

use crate::{begin, claim, commit, goto, outcome, signal, status, to, waiting};

suite::stores! {
    both {
        a_signal_to_oneself_ends_the_wait_that_the_same_outcome_begins,
        a_signal_of_one_outcome_wakes_another_that_parks_in_the_same_batch,
        an_outcome_starts_an_instance_and_signals_it_by_its_key,
    }
    postgres {
        a_target_held_by_someone_else_makes_only_the_outcome_that_signals_it_busy => "a file has no row locks",
    }
}

async fn a_signal_to_oneself_ends_the_wait_that_the_same_outcome_begins(db: Db) {
    let id = begin(&db, &[start()]).await[0];
    let c = claim(&db, "w#1").await.remove(0);
    let signals = vec![signal(id, "A"), signal(id, "B")];
    let commits = commit(&db, &[outcome(&c, to(waiting()), Effects { signals, ..Effects::default() })]).await;
    assert_eq!(commits, [Committed::Parked]);
    assert!(commits.wakes.contains("default"), "it was woken after it had parked");
    assert_eq!(status(&db, id).await, "runnable");
}

async fn a_signal_of_one_outcome_wakes_another_that_parks_in_the_same_batch(db: Db) {
    for parks_first in [true, false] {
        let ids = begin(&db, &[start(), start()]).await;
        db.store.signal(&[signal(ids[0], "A")]).await.expect("delivers");
        let c = claim(&db, "w#1").await;
        let signals = vec![signal(ids[0], "B")];
        let mut batch =
            [goto(&c[0], waiting()), outcome(&c[1], to(entry("b")), Effects { signals, ..Effects::default() })];
        if !parks_first {
            batch.reverse();
        }
        assert!(commit(&db, &batch).await.wakes.contains("default"));
        assert_eq!(status(&db, ids[0]).await, "runnable");
        db.run("DELETE FROM gen_durable").await;
    }
}

async fn an_outcome_starts_an_instance_and_signals_it_by_its_key(db: Db) {
    begin(&db, &[start()]).await;
    let c = claim(&db, "w#1").await.remove(0);
    let named = gen_durable_runtime::model::StartSpec { entry: waiting(), ..crate::keyed("m:1") };
    let to_it = |name: &str| gen_durable_runtime::model::SignalSpec {
        target: gen_durable_runtime::model::Target::Key("m:1".into()),
        ..signal(c.id, name)
    };
    let effects = Effects { spawned: vec![named], signals: vec![to_it("A"), to_it("B")], ..Effects::default() };
    assert_eq!(commit(&db, &[outcome(&c, to(entry("b")), effects)]).await, [Committed::Done]);
    assert_eq!(
        db.count("SELECT count(*) FROM gen_durable WHERE correlation_key = 'm:1' AND status = 'runnable'").await,
        1
    );
    assert_eq!(db.count("SELECT count(*) FROM signals").await, 2);
}

#[cfg(feature = "postgres")]
async fn a_target_held_by_someone_else_makes_only_the_outcome_that_signals_it_busy(db: Db) {
    let target = begin(&db, &[crate::keyed("m:1"), start(), start()]).await[0];
    let c: Vec<_> = claim(&db, "w#1").await.into_iter().filter(|c| c.id != target).collect();
    let by_key = gen_durable_runtime::model::SignalSpec {
        target: gen_durable_runtime::model::Target::Key("m:1".into()),
        ..signal(target, "A")
    };
    for s in [signal(target, "A"), by_key] {
        let effects = Effects { signals: vec![s], spawned: vec![start()], ..Effects::default() };
        let held = crate::hold(&db, target).await;
        let batch = [outcome(&c[0], to(entry("b")), effects), crate::done(&c[1])];
        assert_eq!(commit(&db, &batch).await, [Committed::Busy, Committed::Done]);
        assert_eq!(db.count("SELECT count(*) FROM gen_durable").await, 3);
        held.rollback().await;
    }
}
