//! Signals: to whom, how often, and to nobody.

use std::time::Duration;

use gen_durable::{Delivered, InstanceId, Target, start};
use gen_durable_runtime::model::{Json, SignalSpec};
use suite::{Db, eventually, nothing_lost};

use super::{Keep, client, worker};
use crate::machines::{Act, Fall, Go, Prepare, Run, Then, Visits};

suite::stores! {
    both {
        a_signal_before_during_or_after_the_park_is_received_once,
        a_signal_during_a_delay_a_retry_or_a_crash_is_kept_for_the_wait_behind_it,
        a_dedup_key_is_delivered_once_in_the_life_of_an_instance,
        a_dedup_key_counts_within_one_call_and_with_its_transaction_only,
        a_signal_to_nobody_is_refused_and_leaves_nothing,
    }
}

const HEARD: &str = "SELECT count(*) FROM effects WHERE step = 'listen'";

/// O-19: at once after the start, during the step before the wait, and long after the park; by id and by key.
async fn a_signal_before_during_or_after_the_park_is_received_once(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let worker = worker(&db.url, &db.effects_url()).await;
    for (name, (wait, by_key)) in
        [(0, false), (0, true), (250, false), (250, true), (1_200, false), (1_200, true)].into_iter().enumerate()
    {
        let name = name as u64;
        let visits = client.start(start(Prepare { name, millis: 500, rounds: 1 })).await.expect("starts");
        tokio::time::sleep(Duration::from_millis(wait)).await;
        let target = if by_key { client.of::<Visits>(name) } else { visits.clone() };
        let receipt = target.signal(Go { n: 5 }).await.expect("delivers");
        assert_eq!((Some(receipt.id), receipt.duplicate), (visits.id(), false));
        assert_eq!(visits.wait().timeout(Duration::from_secs(5)).await.expect("ends"), 5, "{wait} ms, key: {by_key}");
    }
    assert_eq!(db.count(HEARD).await, 6);
    worker.stop().await;
}

/// O-19 and its kind: whatever keeps the instance from its wait.
async fn a_signal_during_a_delay_a_retry_or_a_crash_is_kept_for_the_wait_behind_it(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let prepare = |name| start(Prepare { name, millis: 0, rounds: 1 });
    let delayed = client.start(prepare(1).delay(Duration::from_millis(700))).await.expect("starts");
    let retried = client.start(prepare(2)).await.expect("starts");
    let crashed = client.start(prepare(3)).await.expect("starts");
    let (of_retried, of_crashed) = (retried.id().expect("known"), crashed.id().expect("known"));
    db.run(format!(
        "UPDATE gen_durable SET attempt = 1, errors = 1, eligible_at = now() + interval '700 ms' WHERE id = {of_retried};
         UPDATE gen_durable SET status = 'executing', locked_by = 'gone#1', lease_expires_at = now() + interval '700 ms'
         WHERE id = {of_crashed}"
    ))
    .await;
    let worker = worker(&db.url, &db.effects_url()).await;
    for visits in [&delayed, &retried, &crashed] {
        visits.signal(Go { n: 5 }).await.expect("delivers");
    }
    assert_eq!(db.count("SELECT count(*) FROM effects").await, 0, "none runs yet");
    for visits in [&delayed, &retried, &crashed] {
        assert_eq!(visits.wait().timeout(Duration::from_secs(10)).await.expect("ends"), 5);
    }
    assert_eq!(db.count(HEARD).await, 3);
    worker.stop().await;
}

/// O-22. Documented: a dedup key protects for the life of the instance, consumed or not.
async fn a_dedup_key_is_delivered_once_in_the_life_of_an_instance(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let worker = worker(&db.url, &db.effects_url()).await;
    let visits = client.start(start(Prepare { name: 1, millis: 0, rounds: 3 })).await.expect("starts");
    let pay = || async { visits.signal(Go { n: 1 }).dedup("evt-7").await.expect("answers").duplicate };
    let (one, two, three) = tokio::join!(pay(), pay(), pay());
    assert_eq!([one, two, three].iter().filter(|duplicate| !**duplicate).count(), 1, "one of three at once");
    eventually("consumed", Duration::from_secs(5), async || db.count(HEARD).await == 1).await;
    assert!(pay().await, "after it was consumed");
    visits.signal(Go { n: 10 }).await.expect("without a key it is another signal");
    eventually("it waits a third time", Duration::from_secs(5), async || db.count(HEARD).await == 2).await;
    assert!(pay().await, "while it waits again");
    visits.signal(Go { n: 100 }).dedup("evt-8").await.expect("another key");
    assert_eq!(visits.wait().timeout(Duration::from_secs(5)).await.expect("ends"), 111);
    // Another instance has keys of its own.
    let other = client.start(start(Prepare { name: 2, millis: 0, rounds: 1 })).await.expect("starts");
    assert!(!other.signal(Go { n: 1 }).dedup("evt-7").await.expect("delivers").duplicate);
    nothing_lost(&db, &[visits.id().expect("known"), other.id().expect("known")]).await;
    worker.stop().await;
}

/// O-22 and its kind.
async fn a_dedup_key_counts_within_one_call_and_with_its_transaction_only(db: Db) {
    let client = client(&db).await;
    let visits = client.start(start(Prepare { name: 1, millis: 0, rounds: 3 })).await.expect("starts");
    let other = client.start(start(Prepare { name: 2, millis: 0, rounds: 3 })).await.expect("starts");
    let (id, of_other) = (visits.id().expect("known"), other.id().expect("known"));
    // By id and by key it is one instance; another has keys of its own.
    let specs = [go(Target::Id(id)), go(Target::Key("visits:1".into())), go(Target::Id(of_other)), go(Target::Id(id))];
    let answers = client.signal_specs(&specs).await.expect("answers");
    let duplicate = Delivered::Duplicate(id);
    assert_eq!(answers, [Delivered::New(id), duplicate, Delivered::New(of_other), duplicate]);
    let mut tx = db.begin().await;
    let pay = || visits.signal(Go { n: 1 }).dedup("evt-7");
    assert!(!client.in_transaction(tx.connection()).signal(pay()).await.expect("delivers").duplicate);
    assert!(client.in_transaction(tx.connection()).signal(pay()).await.expect("answers").duplicate, "it sees its own");
    tx.rollback().await;
    assert!(!pay().await.expect("delivers").duplicate, "that one never was");
    assert!(pay().await.expect("answers").duplicate);
    assert_eq!(db.count("SELECT count(*) FROM signals").await, 3);
}

fn go(target: Target) -> SignalSpec {
    SignalSpec { target, name: "go".into(), payload: Json::stored(r#"{"n":1}"#), dedup: Some("k".into()) }
}

/// O-23.
async fn a_signal_to_nobody_is_refused_and_leaves_nothing(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let worker = worker(&db.url, &db.effects_url()).await;
    let limit = Duration::from_secs(10);
    let ended = client.start(start(Run { millis: 0, steps: 1 })).await.expect("starts");
    ended.wait().timeout(limit).await.expect("ends");
    let failed = client.start(start(Act { then: Then::Fail, millis: 0 })).await.expect("starts");
    failed.wait().timeout(limit).await.expect_err("it fails");
    let freed = client.start(start(Fall { name: 3, slot: 3, then: Then::Done })).await.expect("starts");
    freed.wait().timeout(limit).await.expect("ends");
    let kept = client.start(start(Keep { name: 4 })).await.expect("starts");
    kept.wait().timeout(limit).await.expect("ends");
    assert!(!client.start(start(Keep { name: 4 })).await.expect("answers").is_new(), "its key stays occupied");
    let swept = client.start(start(Run { millis: 0, steps: 1 })).await.expect("starts");
    swept.wait().timeout(limit).await.expect("ends");
    let gone = swept.id().expect("known");
    db.run(format!("DELETE FROM gen_durable WHERE id = {gone}")).await;
    let nobody = [
        Target::Id(ended.id().expect("known")),
        Target::Id(failed.id().expect("known")),
        Target::Id(gone),
        Target::Id(InstanceId::new(i64::MAX)),
        Target::Id(InstanceId::new(-1)),
        Target::Key("bare:3".into()),
        Target::Key("kept:4".into()),
        Target::Key("never:was".into()),
    ];
    let specs: Vec<SignalSpec> = nobody.iter().cloned().map(go).collect();
    let answers = client.signal_specs(&specs).await.expect("answers");
    assert_eq!(answers, vec![Delivered::NoTarget; nobody.len()]);
    let mut tx = db.begin().await;
    let visits = client.by_id::<Visits>(gone);
    let refused = client.in_transaction(tx.connection()).signal(visits.signal(Go { n: 1 })).await;
    assert!(refused.expect_err("refused").is_no_target());
    tx.rollback().await;
    // One refused signal costs the others of a batch nothing.
    let lives = client.start(start(Prepare { name: 9, millis: 0, rounds: 1 })).await.expect("starts");
    let mixed = [go(Target::Id(gone)), go(Target::Id(lives.id().expect("known"))), go(Target::Key("never:was".into()))];
    let answers = client.signal_specs(&mixed).await.expect("answers");
    assert_eq!(answers, [Delivered::NoTarget, Delivered::New(lives.id().expect("known")), Delivered::NoTarget]);
    lives.wait().timeout(limit).await.expect("ends");
    assert_eq!(db.count("SELECT count(*) FROM signals").await, 0);
    nothing_lost(&db, &[lives.id().expect("known")]).await;
    worker.stop().await;
}
