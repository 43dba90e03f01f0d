//! Parks, deliveries and deadlines of waits for one or several signals.

use std::{sync::Arc, time::Duration};

use gen_durable_runtime::model::{AwaitMode, Claim, Committed, Deadline, Entry, StartSpec, Wait, Wake};
use suite::{Db, entry, start};

use crate::{
    begin, claim, commit, goto,
    paused::{self, Paused},
    signal, status,
};

suite::stores! {
    both {
        a_park_and_two_deliveries_end_runnable_in_every_order_and_not_before_all_has_come,
        a_deadline_and_a_delivery_hand_over_what_has_come_in_either_order,
        two_signals_of_one_kind_are_not_one_of_each,
        a_delivery_in_line_behind_a_park_that_is_under_way_wakes_it,
        a_park_whose_time_is_up_beside_a_deadline_and_a_delivery_is_woken_once,
    }
    postgres {
        two_deliveries_in_line_for_one_row_wake_whoever_waits_for_both => "a file has one writer: none waits with an old snapshot",
        two_deliveries_in_line_that_are_not_enough_park_it_again_without_a_run => "a file has one writer: none waits with an old snapshot",
        a_park_that_meets_a_delivery_in_line_is_busy_and_then_sees_it => "a file has no row locks",
        a_delivery_in_line_behind_a_park_wakes_it => "a file has no row locks",
        a_deadline_never_waits_for_a_delivery_in_line => "a file has no row locks",
    }
}

const MODES: [AwaitMode; 4] = [AwaitMode::Any, AwaitMode::AnyBiased, AwaitMode::All, AwaitMode::Count(2)];

fn waiting(mode: AwaitMode, after: Option<Duration>) -> Entry {
    let wait = Wait { names: (&["A", "B"][..]).into(), groups: vec![0, 1].into(), mode, deadline: None };
    Entry { wait: Some(Wait { deadline: after.map(Deadline::After), ..wait }), ..entry("w") }
}

fn need(mode: AwaitMode) -> usize {
    match mode {
        AwaitMode::Any | AwaitMode::AnyBiased => 1,
        AwaitMode::All | AwaitMode::Count(_) => 2,
    }
}

fn received(claim: &Claim) -> Vec<&str> {
    match &claim.wake {
        Wake::Signals(signals) => signals.iter().map(|s| s.name.as_str()).collect(),
        other => panic!("{other:?}"),
    }
}

async fn a_park_and_two_deliveries_end_runnable_in_every_order_and_not_before_all_has_come(db: Db) {
    for mode in MODES {
        for park_at in 0..=2 {
            for names in [["A", "B"], ["B", "A"]] {
                let id = begin(&db, &[start()]).await[0];
                let parks = goto(&claim(&db, "w#1").await[0], waiting(mode, None));
                for at in 0..=2 {
                    if at == park_at {
                        let over = at >= need(mode);
                        let expected = if over { Committed::Done } else { Committed::Parked };
                        assert_eq!(commit(&db, std::slice::from_ref(&parks)).await, [expected], "{mode:?} {park_at}");
                    }
                    if let Some(name) = names.get(at) {
                        db.store.signal(&[signal(id, name)]).await.expect("delivers");
                    }
                    let over = at >= park_at && (at + 1).min(2) >= need(mode);
                    if at >= park_at {
                        let expected = if over { "runnable" } else { "awaiting_signal" };
                        assert_eq!(status(&db, id).await, expected, "{mode:?}, parked at {park_at}, after {at}");
                    }
                }
                let woken = claim(&db, "w#2").await.remove(0);
                assert_eq!(received(&woken).len(), need(mode));
                if mode == AwaitMode::AnyBiased {
                    assert_eq!(received(&woken), ["A"], "both have come, and it is preferred");
                }
                db.run("DELETE FROM gen_durable").await;
            }
        }
    }
}

async fn two_signals_of_one_kind_are_not_one_of_each(db: Db) {
    for parks_first in [true, false] {
        let id = begin(&db, &[start()]).await[0];
        let parks = goto(&claim(&db, "w#1").await[0], waiting(AwaitMode::All, None));
        let twice = [signal(id, "A"), signal(id, "A")];
        if parks_first {
            assert_eq!(commit(&db, std::slice::from_ref(&parks)).await, [Committed::Parked]);
        }
        db.store.signal(&twice).await.expect("delivers");
        if !parks_first {
            assert_eq!(commit(&db, std::slice::from_ref(&parks)).await, [Committed::Parked]);
        }
        assert_eq!(status(&db, id).await, "awaiting_signal");
        db.store.signal(&[signal(id, "B")]).await.expect("delivers");
        assert_eq!(received(&claim(&db, "w#2").await[0]), ["A", "B"]);
        db.run("DELETE FROM gen_durable").await;
    }
}

async fn a_deadline_and_a_delivery_hand_over_what_has_come_in_either_order(db: Db) {
    for mode in MODES {
        for deadline_first in [true, false] {
            let id = begin(&db, &[StartSpec { entry: waiting(mode, Some(Duration::ZERO)), ..start() }]).await[0];
            if deadline_first {
                assert_eq!(db.store.end_waits(10).await.expect("ends").rows, 1);
            }
            db.store.signal(&[signal(id, "B")]).await.expect("delivers");
            if !deadline_first {
                // One signal is enough for some of them, and then nothing is left to end.
                let rows = db.store.end_waits(10).await.expect("ends").rows;
                assert_eq!(rows, need(mode) - 1, "{mode:?}");
            }
            let woken = claim(&db, "w#1").await.remove(0);
            assert_eq!(received(&woken), ["B"], "{mode:?} {deadline_first}");
            db.store.signal(&[signal(id, "A")]).await.expect("delivers");
            crate::reap(&db).await;
            let again = claim(&db, "w#2").await.remove(0);
            assert_eq!(received(&again), ["B"], "settled once, for every run of the visit");
            db.run("DELETE FROM gen_durable").await;
        }
    }
}

/// One signal was there before, one comes while the park is under way.
async fn a_delivery_in_line_behind_a_park_that_is_under_way_wakes_it(db: Db) {
    for mode in MODES {
        let id = begin(&db, &[start()]).await[0];
        let parks = goto(&claim(&db, "w#1").await[0], waiting(mode, None));
        if need(mode) == 2 {
            db.store.signal(&[signal(id, "A")]).await.expect("delivers");
        }
        let under_way = Paused::begin(&db, vec![parks]).await;
        let store = Arc::clone(&db.store);
        let delivering = async move { store.signal(&[signal(id, "B")]).await.expect("delivers").remove(0) };
        let delivering = paused::in_line(&db, 1, delivering).await;
        assert_eq!(under_way.end().await, [Committed::Parked], "{mode:?}");
        assert!(delivering.await.expect("no panic").wake.is_some(), "{mode:?}: it says whom it woke");
        assert_eq!(status(&db, id).await, "runnable", "{mode:?}");
        assert_eq!(received(&claim(&db, "w#2").await[0]).len(), need(mode));
        db.run("DELETE FROM gen_durable").await;
    }
}

/// Its deadline passes while it is under way; a sweep and a signal come at once.
async fn a_park_whose_time_is_up_beside_a_deadline_and_a_delivery_is_woken_once(db: Db) {
    for mode in MODES {
        let id = begin(&db, &[start()]).await[0];
        let parks = goto(&claim(&db, "w#1").await[0], waiting(mode, Some(Duration::from_millis(1))));
        let under_way = Paused::begin(&db, vec![parks]).await;
        let (one, two) = (Arc::clone(&db.store), Arc::clone(&db.store));
        let sweeping = tokio::spawn(async move { one.end_waits(10).await.expect("ends").rows });
        let delivering = async move { two.signal(&[signal(id, "B")]).await.expect("delivers").remove(0) };
        let delivering = paused::in_line(&db, 1, delivering).await;
        let committed = under_way.end().await[0];
        assert!(matches!(committed, Committed::Parked | Committed::Done), "{mode:?}: {committed:?}");
        assert!(sweeping.await.expect("no panic") <= 1, "{mode:?}");
        delivering.await.expect("no panic");
        tokio::time::sleep(Duration::from_millis(5)).await;
        db.store.end_waits(10).await.expect("ends");
        let woken = claim(&db, "w#2").await;
        assert_eq!(woken.len(), 1, "{mode:?}");
        assert!(
            matches!(&woken[0].wake, Wake::Signals(signals) if signals.len() <= 1),
            "{mode:?}: {:?}",
            woken[0].wake
        );
        db.run("DELETE FROM gen_durable").await;
    }
}

/// Delivers in the background, and waits until it stands in line for the row.
#[cfg(feature = "postgres")]
async fn in_line(
    db: &Db,
    id: gen_durable::InstanceId,
    name: &'static str,
    others: i64,
) -> tokio::task::JoinHandle<Vec<gen_durable_runtime::store::Delivery>> {
    let store = db.store.clone();
    let delivery = tokio::spawn(async move { store.signal(&[signal(id, name)]).await.expect("delivers") });
    let is_in_line = async || db.count(crate::IN_LINE).await == others + 1;
    suite::eventually("it stands in line", Duration::from_secs(10), is_in_line).await;
    delivery
}

/// Both took their snapshot before the other's signal was there.
#[cfg(feature = "postgres")]
async fn two_deliveries_in_line_for_one_row_wake_whoever_waits_for_both(db: Db) {
    for mode in [AwaitMode::All, AwaitMode::Count(2)] {
        let id = begin(&db, &[StartSpec { entry: waiting(mode, None), ..start() }]).await[0];
        let held = crate::hold(&db, id).await;
        let deliveries = [in_line(&db, id, "A", 0).await, in_line(&db, id, "B", 1).await];
        held.rollback().await;
        let mut woken = 0;
        for delivery in deliveries {
            woken += delivery.await.expect("no panic").iter().filter(|d| d.wake.is_some()).count();
        }
        assert_eq!((status(&db, id).await.as_str(), woken), ("runnable", 1), "{mode:?}");
        assert_eq!(received(&claim(&db, "w#1").await[0]), ["A", "B"]);
        db.run("DELETE FROM gen_durable").await;
    }
}

/// The second one cannot know: the claim looks again, and the third signal is not missed.
#[cfg(feature = "postgres")]
async fn two_deliveries_in_line_that_are_not_enough_park_it_again_without_a_run(db: Db) {
    let id = begin(&db, &[StartSpec { entry: waiting(AwaitMode::Count(3), None), ..start() }]).await[0];
    let held = crate::hold(&db, id).await;
    let deliveries = [in_line(&db, id, "A", 0).await, in_line(&db, id, "B", 1).await];
    held.rollback().await;
    for delivery in deliveries {
        delivery.await.expect("no panic");
    }
    for woken in claim(&db, "w#1").await {
        assert_eq!(woken.wake, Wake::Unsatisfied);
        let parks = gen_durable_runtime::model::plan::repark(&woken);
        assert_eq!(commit(&db, &[parks]).await, [Committed::Parked]);
    }
    assert_eq!(status(&db, id).await, "awaiting_signal");
    db.store.signal(&[signal(id, "A")]).await.expect("delivers");
    assert_eq!(received(&claim(&db, "w#2").await[0]), ["A", "B", "A"]);
}

#[cfg(feature = "postgres")]
async fn a_park_that_meets_a_delivery_in_line_is_busy_and_then_sees_it(db: Db) {
    for mode in MODES {
        let id = begin(&db, &[start()]).await[0];
        let parks = goto(&claim(&db, "w#1").await[0], waiting(mode, None));
        db.store.signal(&[signal(id, "A")]).await.expect("delivers");
        let held = crate::hold(&db, id).await;
        let delivery = in_line(&db, id, "B", 0).await;
        assert_eq!(commit(&db, std::slice::from_ref(&parks)).await, [Committed::Busy]);
        held.rollback().await;
        delivery.await.expect("no panic");
        assert_eq!(commit(&db, &[parks]).await, [Committed::Done], "{mode:?}");
        assert_eq!(received(&claim(&db, "w#2").await[0]).len(), need(mode));
        db.run("DELETE FROM gen_durable").await;
    }
}

/// The delivery's snapshot is older than the park, and than the signal that came before it.
#[cfg(feature = "postgres")]
async fn a_delivery_in_line_behind_a_park_wakes_it(db: Db) {
    for mode in MODES {
        let id = begin(&db, &[start()]).await[0];
        let parks = goto(&claim(&db, "w#1").await[0], waiting(mode, None));
        // Someone else's transaction parks the row, as the commit would: it holds it meanwhile.
        let mut held = crate::hold(&db, id).await;
        let delivery = in_line(&db, id, "B", 0).await;
        let mode_number = match mode {
            AwaitMode::Any => "NULL",
            AwaitMode::AnyBiased => "1",
            AwaitMode::All => "2",
            AwaitMode::Count(_) => "3",
        };
        held.run(format!(
            "INSERT INTO signals (target_id, name, payload) VALUES ({id}, 'A', '{{}}');
             UPDATE gen_durable SET status = 'awaiting_signal', step = 'w', transitions = 1, lease_expires_at = NULL,
               awaits = '{{A,B}}', await_groups = '{{0,1}}', await_mode = {mode_number}, await_need = {} WHERE id = {id}",
            need(mode)
        ))
        .await;
        held.commit().await;
        delivery.await.expect("no panic");
        assert_eq!(status(&db, id).await, "runnable", "{mode:?}");
        assert_eq!(commit(&db, &[parks]).await, [Committed::Done], "it landed, as far as anyone can tell");
        db.run("DELETE FROM gen_durable").await;
    }
}

#[cfg(feature = "postgres")]
async fn a_deadline_never_waits_for_a_delivery_in_line(db: Db) {
    for mode in MODES {
        let id = begin(&db, &[StartSpec { entry: waiting(mode, Some(Duration::ZERO)), ..start() }]).await[0];
        let held = crate::hold(&db, id).await;
        let delivery = in_line(&db, id, "B", 0).await;
        assert_eq!(db.store.end_waits(10).await.expect("ends").rows, 0);
        held.rollback().await;
        delivery.await.expect("no panic");
        db.store.end_waits(10).await.expect("ends");
        assert_eq!(received(&claim(&db, "w#1").await[0]), ["B"], "{mode:?}");
        db.run("DELETE FROM gen_durable").await;
    }
}
