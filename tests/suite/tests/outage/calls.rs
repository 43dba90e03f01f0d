//! More calls at once than connections.

use std::time::Duration;

use gen_durable::{Client, start};
use suite::{Db, eventually};

use crate::machines::Prepare;

suite::stores! {
    both { five_hundred_calls_at_once_on_two_connections_are_all_answered }
}

/// O-46: calls that wait for a connection are in no one's way once it comes.
async fn five_hundred_calls_at_once_on_two_connections_are_all_answered(db: Db) {
    let client = Client::options(&db.url).pool_size(2).connect().await.expect("connects");
    let call = |n: u64| {
        let client = client.clone();
        async move { client.start(start(Prepare { name: n % 50, millis: 0, rounds: 1 })).await.map(|h| h.is_new()) }
    };
    let answers = futures_util::future::join_all((0..500).map(call)).await;
    let new = answers.into_iter().map(|a| a.expect("answered")).filter(|new| *new).count();
    assert_eq!(new, 50);
    eventually("all are there", Duration::from_secs(1), async || {
        db.count("SELECT count(*) FROM gen_durable").await == 50
    })
    .await;
}
