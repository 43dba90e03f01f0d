//! Single calls of many callers at once: they share statements, and nothing else.

use std::time::Duration;

use futures_util::future::join_all;
use gen_durable::{Client, Handle, start};
use suite::Db;

use super::{First, Twice, client};
use crate::machines::{Go, Run};

suite::stores! {
    both {
        single_calls_at_once_share_statements,
        one_start_that_the_database_refuses_fails_nobody_else,
        signals_at_once_to_the_living_and_the_ended_are_told_apart,
    }
    postgres {
        a_call_that_is_never_polled_again_holds_up_nobody => "a call under way has the file's one writer",
        a_target_that_someone_holds_holds_up_nobody_else => "a file has no row locks: who holds it holds all of it",
    }
}

#[cfg(feature = "postgres")]
const SOON: Duration = Duration::from_secs(10);

fn run(millis: u64) -> Run {
    Run { millis, steps: 1 }
}

async fn parked(client: &Client, many: usize) -> Vec<Handle<Twice>> {
    let first = |_| client.start(start(First { within: Duration::from_secs(3_600) }));
    join_all((0..many).map(first)).await.into_iter().map(|handle| handle.expect("starts")).collect()
}

/// All rows of a statement have its time.
async fn single_calls_at_once_share_statements(db: Db) {
    let client = client(&db).await;
    let parked = parked(&client, 300).await;
    assert!(parked.iter().all(Handle::is_new));
    assert_eq!(db.count("SELECT count(*) FROM gen_durable").await, 300);
    let starts = db.count("SELECT count(DISTINCT inserted_at) FROM gen_durable").await;
    let receipts = join_all(parked.iter().map(|twice| async { twice.signal(Go { n: 1 }).await })).await;
    for (twice, receipt) in parked.iter().zip(receipts) {
        assert_eq!(Some(receipt.expect("delivers").id), twice.id(), "each has its own answer");
    }
    assert_eq!(db.count("SELECT count(*) FROM signals").await, 300);
    let signals = db.count("SELECT count(DISTINCT inserted_at) FROM signals").await;
    assert!(starts <= 30 && signals <= 30, "{starts} statements of starts, {signals} of signals");
}

async fn one_start_that_the_database_refuses_fails_nobody_else(db: Db) {
    let client = client(&db).await;
    db.run(match db.store.dialect() {
        "sqlite" => {
            "CREATE TRIGGER no_13 BEFORE INSERT ON gen_durable WHEN new.state LIKE '%13%' BEGIN SELECT raise(ABORT, 'no 13'); END"
        }
        _ => "ALTER TABLE gen_durable ADD CONSTRAINT no_13 CHECK (state::text NOT LIKE '%13%')",
    })
    .await;
    let started = join_all((0..20).map(|millis| client.start(start(run(millis))))).await;
    for (millis, started) in started.iter().enumerate() {
        assert_eq!(started.is_err(), millis == 13, "{millis}: {started:?}");
    }
    assert_eq!(db.count("SELECT count(*) FROM gen_durable").await, 19);
}

async fn signals_at_once_to_the_living_and_the_ended_are_told_apart(db: Db) {
    let client = client(&db).await;
    let parked = parked(&client, 20).await;
    db.run("UPDATE gen_durable SET status = 'done', awaits = NULL, await_deadline = NULL WHERE id % 2 = 0").await;
    let twice = |handle: &Handle<Twice>| (handle.clone(), handle.id().expect("known").get() % 2 == 0);
    let sent = parked.iter().map(twice).map(|(handle, ended)| async move {
        let once = handle.signal(Go { n: 1 }).dedup("once").await;
        let again = handle.signal(Go { n: 2 }).dedup("once").await;
        (ended, once, again)
    });
    for (ended, once, again) in join_all(sent).await {
        if ended {
            assert!(once.expect_err("has ended").is_no_target() && again.expect_err("has ended").is_no_target());
        } else {
            assert!(!once.expect("delivers").duplicate && again.expect("delivers").duplicate);
        }
    }
    assert_eq!(db.count("SELECT count(*) FROM signals").await, 10);
}

/// A stream that holds futures back, and a select that leaves one: others do not wait for it.
#[cfg(feature = "postgres")]
async fn a_call_that_is_never_polled_again_holds_up_nobody(db: Db) {
    let client = client(&db).await;
    let mut left = Box::pin(client.start(start(run(0))));
    assert!(futures_util::poll!(&mut left).is_pending());
    let others = join_all((1..20).map(|millis| client.start(start(run(millis)))));
    let others = tokio::time::timeout(SOON, others).await.expect("nobody waits for it");
    assert!(others.iter().all(Result::is_ok), "{others:?}");
    left.await.expect("starts");
    assert_eq!(db.count("SELECT count(*) FROM gen_durable").await, 20);
    client.start(start(run(0))).await.expect("alone again");
}

#[cfg(feature = "postgres")]
async fn a_target_that_someone_holds_holds_up_nobody_else(db: Db) {
    let client = client(&db).await;
    let parked = parked(&client, 30).await;
    let mut holder = db.begin().await;
    let held = parked[7].clone();
    holder.run(format!("SELECT FROM gen_durable WHERE id = {} FOR UPDATE", held.id().expect("known"))).await;
    let waits = tokio::spawn(join_all((0..2).map(|n| {
        let held = held.clone();
        async move { held.signal(Go { n }).await }
    })));
    let others = parked.iter().filter(|twice| twice.id() != held.id());
    let others = join_all(others.map(|twice| async { twice.signal(Go { n: 9 }).await }));
    let others = tokio::time::timeout(SOON, others).await.expect("nobody waits for it");
    assert!(others.len() == 29 && others.iter().all(Result::is_ok), "{others:?}");
    assert!(!waits.is_finished());
    assert_eq!(db.count("SELECT count(*) FROM signals").await, 29);
    holder.commit().await;
    let waited = tokio::time::timeout(SOON, waits).await.expect("in time").expect("no panic");
    assert!(waited.iter().all(Result::is_ok), "{waited:?}");
    assert_eq!(db.count("SELECT count(*) FROM signals").await, 31);
    let woken = "SELECT count(*) FROM gen_durable WHERE status = 'runnable'";
    assert_eq!(db.count(woken).await, 30);
}
