//! What engines tell, and whom.

use std::time::Duration;

use gen_durable::{Client, start};
use gen_durable_runtime::store::Said;
use suite::{Db, eventually};

use crate::{
    LONG, Overheard, client,
    machines::{Before, item},
    rig::{Go, Patience, Run},
    worker,
};

suite::stores! {
    both {
        nothing_is_told_while_nobody_waits,
        a_batch_of_any_size_is_told_in_few_words,
    }
}

fn is_news(said: &Said) -> bool {
    matches!(said, Said::News(_) | Said::Look)
}

async fn run(db: &Db, client: &Client, instances: usize) {
    let before = db.count("SELECT count(*) FROM gen_durable WHERE status = 'done'").await;
    client.start_many((0..instances).map(|_| start(Run { millis: 0, steps: 2 }))).await.expect("starts");
    let all = async || {
        let done = db.count("SELECT count(*) FROM gen_durable WHERE status = 'done'").await - before;
        usize::try_from(done).expect("a count") == instances
    };
    eventually("all end", LONG, all).await;
}

/// Commits cost nothing more without waiters: before there are any, and after the last one was dropped.
async fn nothing_is_told_while_nobody_waits(db: Db) {
    let db = db.with_effects().await;
    let (worker, client) = (worker(&db).await, client(&db).await);
    let mut overheard = Overheard::on(&db).await;
    let parked = client.start(start(Patience { within: LONG * 60 })).await.expect("starts");
    run(&db, &client, 20).await;
    assert!(!overheard.so_far().iter().any(is_news), "nobody waits");
    let waiting = tokio::spawn({
        let parked = parked.clone();
        async move { parked.wait().await }
    });
    overheard.greeting().await;
    run(&db, &client, 20).await;
    overheard.until("news", Duration::from_secs(5), is_news).await;
    waiting.abort();
    // It listens on for 10 s: the next wait often follows.
    overheard.until("a farewell", Duration::from_secs(20), |said| matches!(said, Said::Bye(_))).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    overheard.so_far();
    run(&db, &client, 20).await;
    assert!(!overheard.so_far().iter().any(is_news), "nobody waits any more");
    parked.signal(Go { n: 1 }).await.expect("delivers");
    worker.stop().await;
}

/// News of steps is for those who wait for them: a park and an end are told, what lies between is not.
async fn a_batch_of_any_size_is_told_in_few_words(db: Db) {
    let db = db.with_effects().await;
    let (worker, client) = (worker(&db).await, client(&db).await);
    let mut overheard = Overheard::on(&db).await;
    let relay = client.start(start(Before {})).await.expect("starts");
    let waiting = tokio::spawn({
        let relay = relay.clone();
        async move { relay.wait().await }
    });
    overheard.greeting().await;
    run(&db, &client, 500).await;
    relay.signal(item(1)).await.expect("delivers");
    relay.wait_for_step::<crate::machines::After>().timeout(LONG).await.expect("gets there");
    relay.signal(item(1)).await.expect("delivers");
    waiting.await.expect("no panic").expect("ends");
    let said = overheard.so_far();
    let news: Vec<_> = said.iter().filter(|said| is_news(said)).collect();
    let told = news.iter().map(|said| if let Said::News(news) = said { news.len() } else { 0 }).sum::<usize>();
    assert!((500..=503).contains(&told), "{told} told");
    assert!(news.len() < 250, "{} messages: they are gathered", news.len());
    worker.stop().await;
}
