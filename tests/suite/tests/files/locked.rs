//! A file that another program has locked.

use std::time::{Duration, Instant};

use gen_durable::{Client, start};
use sqlx::{Connection as _, SqliteConnection};
use suite::eventually;

use super::{machines::Run, place::Place};

async fn lock(place: &Place) -> SqliteConnection {
    let mut other = place.look().await;
    sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut other).await.expect("begins");
    other
}

async fn unlock(mut other: SqliteConnection) {
    sqlx::raw_sql("COMMIT").execute(&mut other).await.expect("commits");
    other.close().await.expect("closes");
}

#[tokio::test]
async fn a_short_lock_is_waited_for() {
    let place = Place::migrated().await;
    let client = place.client();
    let other = lock(&place).await;
    let starting = tokio::spawn({
        let client = client.clone();
        async move { client.start(start(Run { millis: 0, steps: 1 })).await.map(|_| Instant::now()) }
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!starting.is_finished());
    client.list(gen_durable::Filter::default()).await.expect("readers never wait");
    let unlocked = Instant::now();
    unlock(other).await;
    let after = starting.await.expect("runs").expect("starts") - unlocked;
    assert!(after < Duration::from_secs(1), "{after:?}");
}

#[tokio::test]
async fn a_long_lock_is_said_in_time_and_the_same_client_goes_on() {
    let place = Place::migrated().await;
    let limit = Duration::from_millis(500);
    let client = Client::options(place.url()).call_timeout(limit).open().expect("a client");
    client.check().await.expect("stands");
    let other = lock(&place).await;
    let began = Instant::now();
    let calls = (0..5).map(|_| client.start(start(Run { millis: 0, steps: 1 })));
    for answer in futures_util::future::join_all(calls).await {
        let error = answer.expect_err("locked");
        let text = format!("others held the write lock of the database file {}", place.file().display());
        assert!(error.is_transient() && error.to_string().contains(&text), "{error}");
    }
    let took = began.elapsed();
    assert!((limit..limit * 4).contains(&took), "{took:?}");
    unlock(other).await;
    let id = client.start(start(Run { millis: 0, steps: 1 })).await.expect("starts").id();
    assert_eq!(id.map(|id| id.get()), Some(1), "what was refused changed nothing");
    place.is_sound().await;
}

/// Longer than any call may take, and than the lease.
#[tokio::test]
async fn outcomes_are_held_while_others_hold_the_file_and_each_step_runs_once() {
    let place = Place::migrated().await;
    let ids = place.start((0..50).map(|_| start(Run { millis: 20, steps: 10 }))).await;
    let worker = place.worker().with("SUITE_CALL_MS", 300).spawn().await;
    eventually("it works", Duration::from_secs(10), async || place.effects().await > 50).await;
    let other = lock(&place).await;
    let told = || worker.logged("commit failed, trying again") > 1;
    eventually("the operator is told", Duration::from_secs(10), async || told()).await;
    let held = place.effects().await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(place.effects().await, held, "no step runs on before its outcome is durable");
    unlock(other).await;
    place.all_done(&ids, 10, Duration::from_secs(30)).await;
    assert_eq!(place.effects().await, 500, "each step ran once");
}

/// It holds outcomes that it cannot write: they are given up, their claims come back with the lease.
#[tokio::test]
async fn a_worker_that_is_stopped_while_the_file_is_locked_ends_in_time() {
    let place = Place::migrated().await;
    let ids = place.start((0..20).map(|_| start(Run { millis: 200, steps: 2 }))).await;
    let mut worker = place.worker().drain(Duration::from_secs(1)).spawn().await;
    eventually("it works", Duration::from_secs(10), async || place.effects().await > 0).await;
    let other = lock(&place).await;
    let began = Instant::now();
    worker.terminate();
    worker.exit(Duration::from_secs(50)).await;
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    unlock(other).await;
    let _next = place.worker().spawn().await;
    place.all_done(&ids, 2, Duration::from_secs(30)).await;
}
