//! Waiting for a result.

use std::time::{Duration, Instant};

use gen_durable::{InstanceId, Status, WaitError, start};
use suite::{Db, eventually};

use super::{client, ids, worker};
use crate::machines::{Act, Go, Patience, Run, Task, Then, Timed, Work};

suite::stores! {
    both {
        a_wait_of_any_length_says_how_the_instance_stands,
        an_instance_swept_during_a_wait_is_not_found,
        five_thousand_waits_at_once_share_a_pool_of_five,
        closing_the_client_ends_every_wait_at_once,
        a_wait_outlives_the_worker,
    }
}

/// O-31. Prompt, typed answers; a time-out is never a failure.
async fn a_wait_of_any_length_says_how_the_instance_stands(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let due = client.start(start(Run { millis: 0, steps: 1 })).await.expect("starts");
    let parked = client.start(start(Patience { within: Duration::from_secs(60) })).await.expect("starts");
    for timeout in [Duration::ZERO, Duration::from_millis(1)] {
        let began = Instant::now();
        let answer = due.wait().timeout(timeout).await;
        assert!(matches!(answer, Err(WaitError::TimedOut { status: Status::Runnable, .. })), "{answer:?}");
        let answer = parked.wait().timeout(timeout).await;
        assert!(matches!(answer, Err(WaitError::TimedOut { status: Status::AwaitingSignal, .. })), "{answer:?}");
        assert!(began.elapsed() < Duration::from_millis(500), "{:?}", began.elapsed());
    }
    let unknown = client.by_id::<Work>(InstanceId::new(4_711)).wait().await;
    assert!(matches!(unknown, Err(WaitError::NotFound(_))), "{unknown:?}");
    // Ended by another node, waited for without end.
    let waiting = tokio::spawn({
        let due = due.clone();
        async move { due.wait().timeout(Duration::MAX).await }
    });
    let failing = client.start(start(Act { then: Then::Fail, millis: 0 })).await.expect("starts");
    let worker = worker(&db.url, &db.effects_url()).await;
    assert_eq!(waiting.await.expect("no panic").expect("ends"), 1);
    assert_eq!(due.wait().timeout(Duration::ZERO).await.expect("it has ended"), 1);
    let failed = failing.wait().timeout(Duration::from_secs(5)).await;
    assert!(matches!(&failed, Err(WaitError::Failed { reason, .. }) if reason == "told to fail"), "{failed:?}");
    let other = client.by_id::<Task>(due.id().expect("known")).wait().await.expect_err("of another machine");
    assert!(other.to_string().contains("is of machine `work`, not of `task`"), "{other}");
    parked.signal(Go { n: 1 }).await.expect("delivers");
    assert!(parked.wait().timeout(Duration::from_secs(5)).await.expect("ends"));
    worker.stop().await;
}

/// O-31.
async fn an_instance_swept_during_a_wait_is_not_found(db: Db) {
    let client = client(&db).await;
    let parked = client.start(start(Patience { within: Duration::from_secs(60) })).await.expect("starts");
    let waiting = tokio::spawn({
        let parked = parked.clone();
        async move { parked.wait().await }
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    db.run("DELETE FROM gen_durable").await;
    let answer = tokio::time::timeout(Duration::from_secs(2), waiting).await.expect("promptly").expect("no panic");
    assert!(matches!(answer, Err(WaitError::NotFound(_))), "{answer:?}");
}

/// O-31: no connection each; dropped waits leave nothing behind.
async fn five_thousand_waits_at_once_share_a_pool_of_five(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let started = client.start_many((0..5_000).map(|_| start(Run { millis: 0, steps: 1 }))).await.expect("starts");
    let ids = ids(&started);
    let dropped: Vec<_> = ids
        .iter()
        .map(|id| {
            let wait = client.by_id::<Work>(*id).wait();
            tokio::spawn(async move { wait.await })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(200)).await;
    dropped.iter().for_each(tokio::task::JoinHandle::abort);
    let waits = ids.iter().map(|id| {
        let wait = client.by_id::<Work>(*id).wait();
        tokio::spawn(async move { wait.await })
    });
    let waits: Vec<_> = waits.collect();
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(db.engines_connections().await <= 5 + 6 + 2, "the client's and the harness's, and a writer each of a file");
    let began = Instant::now();
    client.show(&gen_durable::Target::Id(ids[0])).await.expect("others get through");
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    let worker = worker(&db.url, &db.effects_url()).await;
    for wait in waits {
        assert_eq!(wait.await.expect("no panic").expect("ends"), 1);
    }
    worker.stop().await;
}

/// O-31.
async fn closing_the_client_ends_every_wait_at_once(db: Db) {
    let client = client(&db).await;
    let parked = client.start(start(Patience { within: Duration::from_secs(60) })).await.expect("starts");
    let waits: Vec<_> = (0..100)
        .map(|_| {
            let wait = client.by_id::<Timed>(parked.id().expect("known")).wait();
            tokio::spawn(async move { wait.await })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(100)).await;
    let began = Instant::now();
    client.close().await;
    for wait in waits {
        let answer = wait.await.expect("no panic");
        assert!(matches!(&answer, Err(WaitError::Other(e)) if e.to_string() == "the client was closed"), "{answer:?}");
    }
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    let later = parked.wait().timeout(Duration::from_secs(60)).await;
    assert!(matches!(later, Err(WaitError::Other(_))), "{later:?}");
}

/// O-31: the worker stops in the middle; the wait goes on, and ends when another works on.
async fn a_wait_outlives_the_worker(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let one = worker(&db.url, &db.effects_url()).await;
    let run = client.start(start(Run { millis: 3_000, steps: 1 })).await.expect("starts");
    eventually("it runs", Duration::from_secs(5), async || db.count("SELECT count(*) FROM effects").await == 1).await;
    let waiting = tokio::spawn({
        let run = run.clone();
        async move { run.wait().await }
    });
    one.stop().await;
    assert!(!waiting.is_finished());
    let two = worker(&db.url, &db.effects_url()).await;
    assert_eq!(waiting.await.expect("no panic").expect("ends"), 1);
    two.stop().await;
}
