//! Waits for a step and for a park; what waits meet that are no results.

use std::{
    future::IntoFuture,
    time::{Duration, Instant},
};

use gen_durable::{Status, WaitError, start};
use suite::Db;

use crate::{
    LONG, Overheard, client,
    machines::{After, Before, Blink, item},
    rig::{Act, Go, Hold, Listen, Onward, Patience, Prepare, Run, Then, Work},
    worker,
};

suite::stores! {
    both {
        a_wait_for_a_step_and_for_a_park_ends_when_it_is_there,
        a_step_that_is_passed_in_no_time_is_told,
        a_step_that_was_passed_long_ago_is_known_by_the_history_at_the_end,
        an_instance_that_ends_elsewhere_ends_the_wait_for_a_place,
        a_wait_of_another_machine_says_so_at_once,
        a_wait_that_begins_before_the_starts_commit_finds_nobody,
        closing_the_client_ends_waits_of_every_kind,
    }
}

async fn a_wait_for_a_step_and_for_a_park_ends_when_it_is_there(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let visits = client.start(start(Prepare { name: 1, millis: 300, rounds: 2 })).await.expect("starts");
    let seen = visits.wait_for_step::<Prepare>().timeout(Duration::ZERO).await.expect("it is there");
    assert_eq!((seen.step.as_str(), seen.status), ("prepare", Status::Runnable));
    let early = visits.wait_parked().timeout(Duration::ZERO).await;
    assert!(matches!(early, Err(WaitError::TimedOut { status: Status::Runnable, .. })), "{early:?}");
    let waits = [
        tokio::spawn(visits.wait_parked().timeout(LONG).into_future()),
        tokio::spawn(visits.wait_for_step::<Listen>().timeout(LONG).into_future()),
        // Whoever has the key.
        tokio::spawn(client.of::<crate::rig::Visits>(1_u64).wait_parked().timeout(LONG).into_future()),
    ];
    let worker = worker(&db).await;
    for wait in waits {
        let seen = wait.await.expect("no panic").expect("it gets there");
        assert_eq!((seen.step.as_str(), seen.status), ("listen", Status::AwaitingSignal));
    }
    worker.stop().await;
}

/// It rests for no look to see: the engine tells who waits for it.
async fn a_step_that_is_passed_in_no_time_is_told(db: Db) {
    let db = db.with_effects().await;
    let (worker, client) = (worker(&db).await, client(&db).await);
    let mut overheard = Overheard::on(&db).await;
    let relay = client.start(start(Before {})).await.expect("starts");
    let waiting = tokio::spawn(relay.wait_for_step::<Blink>().timeout(LONG).into_future());
    overheard.greeting().await;
    relay.signal(item(1)).await.expect("delivers");
    let seen = tokio::time::timeout(Duration::from_secs(10), waiting).await.expect("it is told").expect("no panic");
    assert_ne!(seen.expect("seen").status, Status::Done, "it is parked behind it, and has not ended");
    relay.wait_for_step::<After>().timeout(LONG).await.expect("it is there");
    worker.stop().await;
}

async fn a_step_that_was_passed_long_ago_is_known_by_the_history_at_the_end(db: Db) {
    let db = db.with_effects().await;
    let (worker, client) = (worker(&db).await, client(&db).await);
    let relay = client.start(start(Before {})).await.expect("starts");
    relay.signal(item(1)).await.expect("delivers");
    relay.wait_for_step::<After>().timeout(LONG).await.expect("gets there");
    let gone = relay.wait_for_step::<Blink>().timeout(Duration::from_millis(300)).await;
    assert!(matches!(gone, Err(WaitError::TimedOut { .. })), "{gone:?}");
    relay.signal(item(1)).await.expect("delivers");
    let seen = relay.wait_for_step::<Blink>().timeout(LONG).await.expect("it was there");
    assert_eq!((seen.step.as_str(), seen.status), ("after", Status::Done));
    worker.stop().await;
}

async fn an_instance_that_ends_elsewhere_ends_the_wait_for_a_place(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let task = client.start(start(Act { then: Then::Goto, millis: 0 })).await.expect("starts");
    let failing = client.start(start(Act { then: Then::Fail, millis: 0 })).await.expect("starts");
    let hold = tokio::spawn(task.wait_for_step::<Hold>().timeout(LONG).into_future());
    let park = tokio::spawn(failing.wait_parked().timeout(LONG).into_future());
    let worker = worker(&db).await;
    let held = hold.await.expect("no panic");
    assert!(matches!(&held, Err(WaitError::Ended { status: Status::Done, .. })), "{held:?}");
    let parked = park.await.expect("no panic");
    assert!(matches!(&parked, Err(WaitError::Ended { status: Status::Failed, .. })), "{parked:?}");
    assert_eq!(task.wait_for_step::<Onward>().await.expect("it ended there").status, Status::Done);
    worker.stop().await;
}

/// It would never get there.
async fn a_wait_of_another_machine_says_so_at_once(db: Db) {
    let client = client(&db).await;
    let parked = client.start(start(Patience { within: LONG })).await.expect("starts");
    let other = client.by_id::<Work>(parked.id().expect("known"));
    let began = Instant::now();
    for error in [
        other.wait().timeout(Duration::from_secs(5)).await.map(drop).expect_err("of another machine"),
        other.wait_for_step::<Run>().timeout(Duration::from_secs(5)).await.map(drop).expect_err("of another machine"),
    ] {
        assert!(error.to_string().contains("is of machine `timed`, not of `work`"), "{error}");
    }
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
}

/// It does not hang on what may never be; once it is committed it is waited for as any.
async fn a_wait_that_begins_before_the_starts_commit_finds_nobody(db: Db) {
    let db = db.with_effects().await;
    let (worker, client) = (worker(&db).await, client(&db).await);
    let mut tx = db.begin().await;
    let run = client.in_transaction(tx.connection()).start(start(Run { millis: 0, steps: 1 })).await.expect("starts");
    let early = tokio::time::timeout(Duration::from_secs(5), run.wait().into_future()).await.expect("promptly");
    assert!(matches!(early, Err(WaitError::NotFound(_))), "{early:?}");
    tx.commit().await;
    assert_eq!(run.wait().timeout(LONG).await.expect("ends"), 1);
    worker.stop().await;
}

async fn closing_the_client_ends_waits_of_every_kind(db: Db) {
    let client = client(&db).await;
    let parked = client.start(start(Patience { within: LONG })).await.expect("starts");
    let relay = client.start(start(Run { millis: 0, steps: 1 })).await.expect("starts");
    let mut overheard = Overheard::on(&db).await;
    let end = tokio::spawn(parked.wait().into_future());
    let park = tokio::spawn(relay.wait_parked().into_future());
    let step =
        tokio::spawn(client.start(start(Before {})).await.expect("starts").wait_for_step::<Blink>().into_future());
    overheard.greeting().await;
    let began = Instant::now();
    client.close().await;
    let end = end.await.expect("no panic").map(drop);
    for answer in [end, park.await.expect("no panic").map(drop), step.await.expect("no panic").map(drop)] {
        assert!(matches!(&answer, Err(WaitError::Other(e)) if e.to_string() == "the client was closed"), "{answer:?}");
    }
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    let later = parked.signal(Go { n: 1 }).await;
    assert!(later.is_err(), "it is closed");
}
