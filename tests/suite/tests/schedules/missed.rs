//! O-36: everybody is down when a slot comes.

use std::time::Duration;

use gen_durable::{Client, Schedule, start};
use jiff::{SignedDuration, Timestamp};
use suite::Db;

use super::{are_all, client, fired, process, schedule, until_fired};
use crate::clockwork::Chime;

suite::stores! {
    both {
        a_slot_that_falls_into_an_outage_is_caught_up_once_late_and_visibly,
        two_missed_slots_give_one_instance_for_the_later_one,
        a_skipping_schedule_passes_over_what_was_missed_and_says_so,
    }
}

const EVERY: Duration = Duration::from_secs(5);

async fn chimes(client: &Client, schedule: Schedule) {
    let chime = start(Chime { at: Timestamp::UNIX_EPOCH, tenant: 7 });
    client.schedule("chime", schedule.slot_field("at"), chime).await.expect("schedules");
}

fn after(slot: Timestamp, times: i32) -> Timestamp {
    slot.checked_add(SignedDuration::try_from(EVERY).expect("short") * times).expect("a moment")
}

/// By this machine's clock, which is the database's here.
async fn until(at: Timestamp) {
    tokio::time::sleep(Duration::try_from(at.duration_since(Timestamp::now())).unwrap_or_default()).await;
}

/// Kills the only worker after the first slot, and starts another 1 s after `slots` more.
async fn outage(db: &Db, client: &Client, slots: i32) -> (Timestamp, suite::WorkerProcess) {
    let mut worker = process(db).spawn().await;
    let first = until_fired(client, "tock", 1, 2 * EVERY).await[0];
    worker.kill().await;
    until(after(first, slots).checked_add(SignedDuration::from_secs(3)).expect("a moment")).await;
    assert_eq!(fired(client, "tock").await, [first], "nobody is there");
    (first, process(db).spawn().await)
}

async fn a_slot_that_falls_into_an_outage_is_caught_up_once_late_and_visibly(db: Db) {
    let client = client(&db);
    chimes(&client, Schedule::every(EVERY)).await;
    let (first, _worker) = outage(&db, &client, 1).await;
    let slots = until_fired(&client, "tock", 2, Duration::from_secs(2)).await;
    assert_eq!(slots, [first, after(first, 1)]);
    let seen = schedule(&client, "chime").await;
    assert_eq!((seen.last_slot, seen.missed), (Some(slots[1]), None));
    let late = seen.last_fired.expect("fired").duration_since(slots[1]);
    assert!(late >= SignedDuration::from_secs(3), "{late}");
    are_all(&until_fired(&client, "tock", 3, EVERY).await, EVERY);
}

async fn two_missed_slots_give_one_instance_for_the_later_one(db: Db) {
    let client = client(&db);
    chimes(&client, Schedule::every(EVERY)).await;
    let (first, _worker) = outage(&db, &client, 2).await;
    let slots = until_fired(&client, "tock", 2, Duration::from_secs(2)).await;
    assert_eq!(slots, [first, after(first, 2)]);
    let seen = schedule(&client, "chime").await;
    assert_eq!((seen.last_slot, seen.missed), (Some(after(first, 2)), Some(after(first, 1))));
}

async fn a_skipping_schedule_passes_over_what_was_missed_and_says_so(db: Db) {
    let client = client(&db);
    chimes(&client, Schedule::every(EVERY).skip_missed()).await;
    let (first, _worker) = outage(&db, &client, 1).await;
    let slots = until_fired(&client, "tock", 2, EVERY).await;
    assert_eq!(slots, [first, after(first, 2)]);
    let seen = schedule(&client, "chime").await;
    assert_eq!((seen.missed, seen.skip_missed), (Some(after(first, 1)), true));
}
