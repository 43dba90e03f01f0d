//! The connection that hears of results dies.
#![cfg(feature = "postgres")]

use std::time::Duration;

use gen_durable::start;
use suite::{Db, eventually};

use crate::{
    LONG, client,
    prompt::{median, process},
    rig::{Go, Patience},
};

suite::stores! {
    postgres(flavor = "multi_thread", worker_threads = 2) {
        serial_a_waiter_survives_the_loss_of_its_listener => "no connection listens",
    }
}

pub(crate) const LISTENERS: &str = "SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND query ILIKE 'LISTEN %' AND state = 'idle'";

/// What ends while nobody hears is found by a look; what ends later is heard again.
async fn serial_a_waiter_survives_the_loss_of_its_listener(db: Db) {
    let db = db.with_effects().await;
    let (_process, client) = (process(&db).await, client(&db).await);
    let meanwhile = client.start(start(Patience { within: LONG })).await.expect("starts");
    let later = client.start(start(Patience { within: LONG })).await.expect("starts");
    let wait = |timed: &gen_durable::Handle<crate::rig::Timed>| {
        let timed = timed.clone();
        tokio::spawn(async move { timed.wait().timeout(LONG).await })
    };
    let (first, second) = (wait(&meanwhile), wait(&later));
    eventually("both listen", Duration::from_secs(10), async || db.count(LISTENERS).await == 2).await;
    db.run(format!("SELECT pg_terminate_backend(pid) FROM ({}) l", LISTENERS.replace("count(*)", "pid"))).await;
    meanwhile.signal(Go { n: 1 }).await.expect("delivers");
    let looked = tokio::time::timeout(Duration::from_secs(5), first).await.expect("a look finds it");
    assert!(looked.expect("no panic").expect("ends"));
    eventually("both listen again", Duration::from_secs(10), async || db.count(LISTENERS).await == 2).await;
    let median = median(&db, &client).await;
    assert!(median < Duration::from_millis(200), "{median:?}");
    later.signal(Go { n: 1 }).await.expect("delivers");
    assert!(second.await.expect("no panic").expect("ends"));
}
