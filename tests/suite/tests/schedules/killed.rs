//! A slot's move and its instance are one transaction.

use std::time::Duration;

use gen_durable::{Client, Schedule, start};
use jiff::Timestamp;
use rand::RngExt;
#[cfg(feature = "postgres")]
use suite::eventually;
use suite::{Db, size};

use super::{client, process, schedule, slots};
use crate::clockwork::Chime;

suite::stores! {
    both {
        workers_that_are_killed_all_the_time_lose_and_double_no_slot,
    }
    postgres {
        a_worker_that_dies_between_the_move_and_the_start_leaves_both_to_another => "a file has one writer: there is nobody to hold it up between the two",
    }
}

async fn chimes(client: &Client, every: Duration) {
    let chime = start(Chime { at: Timestamp::UNIX_EPOCH, tenant: 7 });
    client.schedule("chime", Schedule::every(every).slot_field("at"), chime).await.expect("schedules");
}

const REVISION: &str = "SELECT revision FROM gen_durable_schedules WHERE name = 'chime'";

async fn workers_that_are_killed_all_the_time_lose_and_double_no_slot(db: Db) {
    let client = client(&db);
    chimes(&client, Duration::from_millis(20)).await;
    let before = db.count(REVISION).await;
    for _ in 0..size(100) {
        let mut workers = [process(&db).spawn().await, process(&db).spawn().await];
        let pause = rand::rng().random_range(1..200);
        tokio::time::sleep(Duration::from_millis(pause)).await;
        for worker in &mut workers {
            worker.kill().await;
        }
    }
    // What was still on its way to the server is in or out.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let (moves, slots) = (db.count(REVISION).await - before, slots(&client, "tock").await);
    assert!(moves > 10, "{moves} moves");
    assert_eq!(
        slots.len(),
        usize::try_from(moves).expect("more"),
        "each move has its instance, and each instance its move"
    );
    assert!(slots.windows(2).all(|pair| pair[0].0 < pair[1].0), "no slot has two");
    let (seen, (slot, _, id)) = (schedule(&client, "chime").await, *slots.last().expect("some"));
    assert_eq!((seen.last_slot, seen.last_instance), (Some(slot), Some(id)));
}

/// Someone else's lock on the table of instances holds the insert up, after the schedule's row is locked.
#[cfg(feature = "postgres")]
async fn a_worker_that_dies_between_the_move_and_the_start_leaves_both_to_another(db: Db) {
    let client = client(&db);
    chimes(&client, Duration::from_secs(1)).await;
    let mut tx = db.begin().await;
    tx.run("LOCK TABLE gen_durable IN SHARE MODE").await;
    let mut worker = process(&db).spawn().await;
    let waits = "SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid)
        WHERE NOT l.granted AND a.query LIKE '-- Inserts instances;%'";
    eventually("the start waits", Duration::from_secs(10), async || db.count(waits).await > 0).await;
    let held = "SELECT (SELECT count(*) FROM gen_durable_schedules)
        - (SELECT count(*) FROM (SELECT FROM gen_durable_schedules FOR UPDATE SKIP LOCKED) free)";
    assert!(db.count(held).await > 0, "nobody else can fire it meanwhile");
    worker.kill().await;
    tx.rollback().await;
    // The server notices that its client is gone.
    eventually("the row is free", Duration::from_secs(10), async || db.count(held).await == 0).await;
    let both = "SELECT (SELECT count(*) FROM gen_durable) + (SELECT count(*) FROM gen_durable_schedules WHERE last_at IS NOT NULL)";
    assert_eq!(db.count(both).await, 0, "neither happened");
    let _next = process(&db).spawn().await;
    let slots = super::until_fired(&client, "tock", 2, Duration::from_secs(10)).await;
    assert!(slots.windows(2).all(|pair| pair[0] < pair[1]), "{slots:?}");
}
