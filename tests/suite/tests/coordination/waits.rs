//! Waits for several signals.

use std::time::Duration;

use gen_durable::{Status, start};
use suite::{Db, eventually};

use crate::{
    Work,
    machines::{Blue, Both, BothSoon, Prefers, Red, Three},
};

suite::stores! {
    both(flavor = "multi_thread", worker_threads = 2) {
        one_of_each_ends_the_wait_whenever_they_come,
        so_many_end_the_wait_in_the_order_of_their_arrival,
        a_timeout_hands_over_what_has_come,
        the_preferred_signal_goes_before_an_older_one,
    }
}

const LONG: Duration = Duration::from_secs(60);

async fn one_of_each_ends_the_wait_whenever_they_come(db: Db) {
    let work = Work::on(&db).await;
    let both = work.client.start(start(Both { name: "a".into() })).await.expect("starts");
    both.signal(Red { n: 1 }).await.expect("delivers");
    both.signal(Red { n: 2 }).await.expect("delivers");
    // Parked all the same: the other one is missing.
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(both.show().await.expect("stands").status, Status::AwaitingSignal);
    both.signal(Blue { n: 3 }).await.expect("delivers");
    assert_eq!(both.wait().timeout(LONG).await.expect("ends"), "1 3");
    work.stop().await;
}

async fn so_many_end_the_wait_in_the_order_of_their_arrival(db: Db) {
    let work = Work::on(&db).await;
    let three = work.client.start(start(Three { name: "a".into(), patience: LONG })).await.expect("starts");
    for n in 1..=4 {
        three.signal(Red { n }).await.expect("delivers or ended");
        if n < 3 {
            tokio::time::sleep(Duration::from_millis(50)).await;
            assert_eq!(three.show().await.expect("stands").status, Status::AwaitingSignal);
        }
        if n == 3 {
            break;
        }
    }
    assert_eq!(three.wait().timeout(LONG).await.expect("ends"), "1 2 3");
    // All at once, in one call.
    let again = work.client.start(start(Three { name: "b".into(), patience: LONG })).await.expect("starts");
    work.client.signal_many((1..=3).map(|n| again.signal(Red { n }))).await.expect("delivers");
    assert_eq!(again.wait().timeout(LONG).await.expect("ends"), "1 2 3");
    work.stop().await;
}

async fn a_timeout_hands_over_what_has_come(db: Db) {
    let work = Work::on(&db).await;
    let patience = Duration::from_millis(400);
    let three = work.client.start(start(Three { name: "a".into(), patience })).await.expect("starts");
    let both = work.client.start(start(BothSoon { patience })).await.expect("starts");
    let none = work.client.start(start(BothSoon { patience })).await.expect("starts");
    three.signal(Red { n: 1 }).await.expect("delivers");
    three.signal(Red { n: 2 }).await.expect("delivers");
    both.signal(Blue { n: 4 }).await.expect("delivers");
    assert_eq!(three.wait().timeout(LONG).await.expect("ends"), "only 1 2");
    assert_eq!(both.wait().timeout(LONG).await.expect("ends"), "(None, Some(Blue { n: 4 }))");
    assert_eq!(none.wait().timeout(LONG).await.expect("ends"), "(None, None)");
    work.stop().await;
}

async fn the_preferred_signal_goes_before_an_older_one(db: Db) {
    let client = gen_durable::Client::on(db.store.clone());
    let prefers = client.start(start(Prefers { settle: true })).await.expect("starts");
    prefers.signal(Red { n: 1 }).await.expect("delivers");
    prefers.signal(Blue { n: 2 }).await.expect("delivers");
    let work = Work::on(&db).await;
    assert_eq!(prefers.wait().timeout(LONG).await.expect("ends"), "blue 2");
    let other = work.client.start(start(Prefers { settle: true })).await.expect("starts");
    eventually("parked", LONG, async || other.show().await.expect("stands").status == Status::AwaitingSignal).await;
    other.signal(Red { n: 3 }).await.expect("delivers");
    assert_eq!(other.wait().timeout(LONG).await.expect("ends"), "red 3");
    work.stop().await;
}
