//! A signal to whoever has a key, or to the instance that is started with it.

use std::time::Duration;

use gen_durable::{Status, start};
use suite::Db;

use crate::{
    LONG, client,
    machines::{Cart, Open, OpenForAnyone, OpenOnce, item, last},
    worker,
};

suite::stores! {
    both {
        a_free_key_is_started_with_its_signal_and_an_occupant_gets_it,
        a_start_that_awaits_later_keeps_the_signal_and_wakes_its_worker,
        a_start_without_a_key_is_refused_before_any_sql,
        a_key_kept_by_one_that_has_ended_has_nobody_to_signal,
        a_dedup_key_delivers_once,
        in_a_transaction_both_happen_with_its_commit_or_neither,
    }
}

async fn a_free_key_is_started_with_its_signal_and_an_occupant_gets_it(db: Db) {
    let client = client(&db).await;
    let (cart, receipt) = client.signal_or_start(start(Open { customer: 7 }), item(2)).await.expect("starts");
    assert_eq!((cart.is_new(), cart.id(), receipt.duplicate), (true, Some(receipt.id), false));
    let (same, receipt) = client.signal_or_start(start(Open { customer: 7 }), item(3)).await.expect("signals");
    assert_eq!((same.is_new(), same.id(), receipt.duplicate), (false, cart.id(), false));
    let (other, _) = client.signal_or_start(start(Open { customer: 8 }), item(4)).await.expect("starts");
    assert!(other.is_new());
    assert_eq!(db.count("SELECT count(*) FROM gen_durable").await, 2);
    assert_eq!(db.count("SELECT count(*) FROM signals").await, 3);
}

/// No poll is near: the worker is woken by the start, and by the signal that follows the park.
async fn a_start_that_awaits_later_keeps_the_signal_and_wakes_its_worker(db: Db) {
    let db = db.with_effects().await;
    let (worker, client) = (worker(&db).await, client(&db).await);
    let (cart, _) = client.signal_or_start(start(Open { customer: 7 }), item(2)).await.expect("starts");
    let seen = cart.wait_parked().timeout(Duration::from_secs(10)).await.expect("parks");
    assert_eq!((seen.step.as_str(), seen.status), ("fill", Status::AwaitingSignal));
    let (same, _) = client.signal_or_start(start(Open { customer: 7 }), item(3)).await.expect("signals");
    assert!(!same.is_new());
    client.signal_or_start(start(Open { customer: 7 }), last()).await.expect("signals");
    assert_eq!(cart.wait().timeout(Duration::from_secs(10)).await.expect("ends"), 5);
    // The key is free again.
    let (next, _) = client.signal_or_start(start(Open { customer: 7 }), last()).await.expect("starts");
    assert!(next.is_new() && next.id() != cart.id());
    worker.stop().await;
}

async fn a_start_without_a_key_is_refused_before_any_sql(db: Db) {
    let client = client(&db).await;
    client.close().await;
    let refused = client.signal_or_start(start(OpenForAnyone {}), item(1)).await.expect_err("no key");
    assert_eq!((refused.is_invalid(), refused.field()), (true, Some("key")), "{refused}");
    let asked = client.signal_or_start(start(Open { customer: 7 }), item(1)).await.expect_err("it is closed");
    assert!(!asked.is_invalid(), "this one asks the database: {asked}");
}

async fn a_key_kept_by_one_that_has_ended_has_nobody_to_signal(db: Db) {
    let db = db.with_effects().await;
    let (worker, client) = (worker(&db).await, client(&db).await);
    let (once, _) = client.signal_or_start(start(OpenOnce { customer: 7 }), last()).await.expect("starts");
    assert_eq!(once.wait().timeout(LONG).await.expect("ends"), 0);
    let nobody = client.signal_or_start(start(OpenOnce { customer: 7 }), item(1)).await.expect_err("it has ended");
    assert!(nobody.is_no_target(), "{nobody}");
    assert_eq!(db.count("SELECT count(*) FROM gen_durable").await, 1);
    assert_eq!(db.count("SELECT count(*) FROM signals").await, 0);
    worker.stop().await;
}

async fn a_dedup_key_delivers_once(db: Db) {
    let client = client(&db).await;
    let add = || client.signal_or_start(start(Open { customer: 7 }), item(2)).dedup("click 1");
    let (_, first) = add().await.expect("starts");
    let (_, second) = add().await.expect("answers");
    assert_eq!((first.duplicate, second.duplicate), (false, true));
    assert_eq!(db.count("SELECT count(*) FROM signals").await, 1);
}

async fn in_a_transaction_both_happen_with_its_commit_or_neither(db: Db) {
    let db = db.with_effects().await;
    let (worker, client) = (worker(&db).await, client(&db).await);
    let both = |customer| client.signal_or_start(start(Open { customer }), last());
    let mut tx = db.begin().await;
    let (cart, _) = client.in_transaction(tx.connection()).signal_or_start(both(7)).await.expect("starts");
    assert!(cart.is_new());
    tx.rollback().await;
    assert_eq!(db.count("SELECT (SELECT count(*) FROM gen_durable) + (SELECT count(*) FROM signals)").await, 0);
    let mut tx = db.begin().await;
    let (cart, _) = client.in_transaction(tx.connection()).signal_or_start(both(7)).await.expect("starts");
    let (same, _) = client
        .in_transaction(tx.connection())
        .signal_or_start(client.signal_or_start(start(Open { customer: 7 }), item(2)))
        .await
        .expect("it sees its own rows");
    assert_eq!((same.is_new(), same.id()), (false, cart.id()));
    let nobody = client.by_id::<Cart>(gen_durable::InstanceId::new(4_711)).signal(item(1));
    assert!(client.in_transaction(tx.connection()).signal(nobody).await.expect_err("nobody").is_no_target());
    tx.commit().await;
    assert_eq!(cart.wait().timeout(Duration::from_secs(10)).await.expect("woken by the commit"), 0);
    worker.stop().await;
}
