//! Two come for one key.

use std::time::Duration;

use gen_durable::{Client, Handle, SignalReceipt, start};
use suite::Db;
use tokio::task::JoinHandle;

use crate::{
    client,
    machines::{Cart, Open, item},
};

suite::stores! {
    both(flavor = "multi_thread", worker_threads = 2) {
        of_many_at_once_one_starts_and_every_signal_arrives,
        who_comes_second_signals_the_first_once_that_is_committed,
        who_comes_second_starts_once_the_first_was_rolled_back,
    }
    postgres {
        an_occupant_that_ends_under_the_signal_is_followed_by_a_new_one => "nobody writes between two statements on a file",
        a_call_that_is_dropped_half_way_leaves_neither => "no table lock stops a file's writer half way",
    }
}

type Both = Result<(Handle<Cart>, SignalReceipt), gen_durable::Error>;

fn second(client: &Client) -> JoinHandle<Both> {
    let client = client.clone();
    tokio::spawn(async move { client.signal_or_start(start(Open { customer: 7 }), item(2)).await })
}

async fn of_many_at_once_one_starts_and_every_signal_arrives(db: Db) {
    let clients = [client(&db).await, client(&db).await];
    let rounds = suite::size(200) as u64;
    for customer in 0..rounds {
        let one = |n: usize| {
            let client = clients[n % 2].clone();
            tokio::spawn(async move { client.signal_or_start(start(Open { customer }), item(1)).await })
        };
        let mut new = 0;
        for call in (0..8).map(one).collect::<Vec<_>>() {
            new += usize::from(call.await.expect("no panic").expect("answers").0.is_new());
        }
        assert_eq!(new, 1);
    }
    let all = i64::try_from(rounds).expect("few");
    assert_eq!(db.count("SELECT count(*) FROM gen_durable").await, all);
    assert_eq!(db.count("SELECT count(*) FROM signals").await, 8 * all);
}

/// Driven: the first is not committed when the second comes; who waits for it is let go by its end.
async fn who_comes_second_signals_the_first_once_that_is_committed(db: Db) {
    let client = client(&db).await;
    let mut tx = db.begin().await;
    let first = client.signal_or_start(start(Open { customer: 7 }), item(1));
    let (first, _) = client.in_transaction(tx.connection()).signal_or_start(first).await.expect("starts");
    let second = second(&client);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!second.is_finished(), "it cannot know yet");
    tx.commit().await;
    let (same, _) = second.await.expect("no panic").expect("signals");
    assert_eq!((same.is_new(), same.id()), (false, first.id()));
    assert_eq!(db.count("SELECT count(*) FROM signals").await, 2);
}

async fn who_comes_second_starts_once_the_first_was_rolled_back(db: Db) {
    let client = client(&db).await;
    let mut tx = db.begin().await;
    let first = client.signal_or_start(start(Open { customer: 7 }), item(1));
    client.in_transaction(tx.connection()).signal_or_start(first).await.expect("starts");
    let second = second(&client);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!second.is_finished(), "it cannot know yet");
    tx.rollback().await;
    let (cart, _) = second.await.expect("no panic").expect("starts");
    assert!(cart.is_new());
    assert_eq!(db.count("SELECT count(*) FROM signals").await, 1);
}

/// Driven: the start found an occupant; that one ends while the signal stands in line for its row.
#[cfg(feature = "postgres")]
async fn an_occupant_that_ends_under_the_signal_is_followed_by_a_new_one(db: Db) {
    let client = client(&db).await;
    let first = client.start(start(Open { customer: 7 })).await.expect("starts");
    let mut third = db.hold().await;
    let second = second(&client);
    let waiting =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    suite::eventually("it waits", Duration::from_secs(5), async || db.count(waiting).await == 1).await;
    third.run("UPDATE gen_durable SET status = 'done'").await;
    third.commit().await;
    let (cart, receipt) = second.await.expect("no panic").expect("starts");
    assert!(cart.is_new() && cart.id() != first.id());
    assert_eq!(cart.id(), Some(receipt.id));
    assert_eq!(db.count("SELECT count(*) FROM signals").await, 1);
}

/// Driven: the signal waits for its table, and the call is given up. Nobody sees a start without its signal.
#[cfg(feature = "postgres")]
async fn a_call_that_is_dropped_half_way_leaves_neither(db: Db) {
    let client = client(&db).await;
    let mut third = db.begin().await;
    third.run("LOCK TABLE signals IN EXCLUSIVE MODE").await;
    let call = second(&client);
    let waiting =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    suite::eventually("it waits", Duration::from_secs(5), async || db.count(waiting).await == 1).await;
    assert_eq!(db.count("SELECT count(*) FROM gen_durable").await, 0, "not before its signal");
    call.abort();
    third.commit().await;
    suite::eventually("it is over", Duration::from_secs(5), async || db.count(waiting).await == 0).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(db.count("SELECT (SELECT count(*) FROM gen_durable) + (SELECT count(*) FROM signals)").await, 0);
    let (cart, _) = client.signal_or_start(start(Open { customer: 7 }), item(2)).await.expect("starts");
    assert!(cart.is_new());
}
