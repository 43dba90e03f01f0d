//! Schedules that a client makes.

use std::time::Duration;

use gen_durable::{Client, Schedule, Startable, Worker, prelude::*};
use jiff::{SignedDuration, Timestamp};
use suite::Db;

use super::{SECOND, are_all, client, fired, schedule, slots, tocks, until_fired};
use crate::clockwork::{Chime, Clockwork};

suite::stores! {
    both {
        a_schedule_made_at_run_time_starts_an_instance_for_each_slot_on_time,
        a_schedule_made_again_changes_nothing_and_one_described_differently_fires_no_slot_twice,
        a_paused_schedule_fires_nothing_and_catches_nothing_up,
        a_removed_schedule_is_gone_and_its_instances_stay,
        one_fired_by_hand_keeps_its_next_slot,
        what_cannot_be_a_schedule_is_refused_before_anything_is_written,
        a_slot_whose_business_key_is_held_starts_nothing,
        data_of_an_older_version_is_converted_as_its_rows_are,
    }
}

fn chime(tenant: u64) -> impl Startable {
    start(Chime { at: Timestamp::UNIX_EPOCH, tenant })
}

async fn made(client: &Client, name: &str, every: Duration) {
    client.schedule(name, Schedule::every(every).slot_field("at"), chime(7)).await.expect("schedules");
}

/// Waits for slots of a schedule that is a year away from its next: moves it there by hand.
async fn due(db: &Db, name: &str) {
    db.run(format!("UPDATE gen_durable_schedules SET next_at = now(), revision = revision + 1 WHERE name = '{name}'"))
        .await;
}

/// A worker that knows of no schedule hears of the first at once; each slot is fired within 100 ms of its time (asserted: half of
/// them within 200 ms, none early).
async fn a_schedule_made_at_run_time_starts_an_instance_for_each_slot_on_time(db: Db) {
    let client = client(&db);
    let worker = tocks(&client).await;
    db.heard().await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    made(&client, "chime", SECOND).await;
    are_all(&until_fired(&client, "tock", 3, 5 * SECOND).await, SECOND);
    worker.stop().await;
    let slots = slots(&client, "tock").await;
    let mut late: Vec<SignedDuration> = slots.iter().map(|(slot, started, _)| started.duration_since(*slot)).collect();
    late.sort();
    assert!(late[0] >= SignedDuration::ZERO && late[late.len() / 2] < SignedDuration::from_millis(200), "{late:?}");
    let (seen, (slot, _, id)) = (schedule(&client, "chime").await, *slots.last().expect("some"));
    assert_eq!((seen.last_slot, seen.last_instance, seen.last_is_new), (Some(slot), Some(id), Some(true)));
    assert_eq!(seen.next, slot.checked_add(SignedDuration::from_secs(1)).ok());
    assert_eq!((seen.when.as_str(), seen.in_code, seen.orphaned), ("every 1s", false, false));
}

async fn a_schedule_made_again_changes_nothing_and_one_described_differently_fires_no_slot_twice(db: Db) {
    let client = client(&db);
    made(&client, "chime", 3_600 * SECOND).await;
    due(&db, "chime").await;
    let before = schedule(&client, "chime").await;
    // Its slot has come, and still gets its instance, by whatever it is called meanwhile.
    made(&client, "chime", 3_600 * SECOND).await;
    assert_eq!(schedule(&client, "chime").await.next, before.next);
    let cron = Schedule::cron("0 0 1 1 *").slot_field("at");
    client.schedule("chime", cron.clone(), chime(8)).await.expect("schedules");
    assert_eq!(schedule(&client, "chime").await.next, before.next);
    let worker = tocks(&client).await;
    assert_eq!(until_fired(&client, "tock", 1, 5 * SECOND).await, [before.next.expect("due")]);
    client.schedule("chime", cron, chime(8)).await.expect("schedules");
    made(&client, "chime", 3_600 * SECOND).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(fired(&client, "tock").await.len(), 1, "nothing fires for a time that is over");
    assert!(schedule(&client, "chime").await.next > before.next);
    worker.stop().await;
}

async fn a_paused_schedule_fires_nothing_and_catches_nothing_up(db: Db) {
    let client = client(&db);
    let worker = tocks(&client).await;
    made(&client, "chime", SECOND).await;
    until_fired(&client, "tock", 1, 5 * SECOND).await;
    client.pause_schedule("chime").await.expect("pauses");
    client.pause_schedule("chime").await.expect("again is no error");
    let paused = fired(&client, "tock").await;
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    assert_eq!(fired(&client, "tock").await, paused);
    assert!(schedule(&client, "chime").await.paused.is_some());
    // Made again it stays so.
    made(&client, "chime", SECOND).await;
    assert!(schedule(&client, "chime").await.paused.is_some());
    client.resume_schedule("chime").await.expect("goes on");
    let resumed = Timestamp::now();
    let slots = until_fired(&client, "tock", paused.len() + 2, 5 * SECOND).await;
    assert!(
        slots[paused.len()] >= resumed.checked_sub(SignedDuration::from_millis(100)).expect("a moment"),
        "{slots:?}"
    );
    are_all(&slots[paused.len()..], SECOND);
    assert_eq!(schedule(&client, "chime").await.missed, None, "nothing was missed");
    worker.stop().await;
    assert!(client.pause_schedule("chimes").await.expect_err("there is none").is_not_found());
    assert!(client.resume_schedule("chimes").await.expect_err("there is none").is_not_found());
}

async fn a_removed_schedule_is_gone_and_its_instances_stay(db: Db) {
    let client = client(&db);
    let worker = tocks(&client).await;
    made(&client, "chime", SECOND).await;
    until_fired(&client, "tock", 1, 5 * SECOND).await;
    assert!(client.unschedule("chime").await.expect("removes"));
    assert!(!client.unschedule("chime").await.expect("there is none"));
    let there = fired(&client, "tock").await;
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert_eq!(fired(&client, "tock").await, there);
    assert_eq!(client.schedules().await.expect("lists"), []);
    worker.stop().await;
}

async fn one_fired_by_hand_keeps_its_next_slot(db: Db) {
    let client = client(&db);
    made(&client, "chime", 3_600 * SECOND).await;
    client.pause_schedule("chime").await.expect("pauses");
    let before = schedule(&client, "chime").await;
    let started = client.fire_schedule("chime").await.expect("fires");
    let seen = schedule(&client, "chime").await;
    assert_eq!((seen.next, seen.last_instance), (before.next, Some(started.id())));
    assert_eq!(fired(&client, "tock").await, [seen.last_slot.expect("now")]);
    assert!(client.fire_schedule("chimes").await.expect_err("there is none").is_not_found());
}

async fn what_cannot_be_a_schedule_is_refused_before_anything_is_written(db: Db) {
    let client = client(&db);
    let cases = [
        ("cron", Schedule::cron("0 9 * *")),
        ("cron", Schedule::cron("0 0 31 2 *")),
        ("cron", Schedule::cron("61 * * * *")),
        ("tz", Schedule::cron("0 9 * * *").tz("Europe/Berln")),
        ("tz", Schedule::every(SECOND).tz("Europe/Berlin")),
        ("every", Schedule::every(Duration::ZERO)),
        ("every", Schedule::every(Duration::MAX)),
        ("slot_field", Schedule::every(SECOND).slot_field("when")),
        ("slot_field", Schedule::every(SECOND).slot_field("tenant")),
    ];
    for (field, schedule) in cases {
        let error = client.schedule("chime", schedule.clone(), chime(7)).await.expect_err(field);
        assert!(error.is_invalid() && error.field() == Some(field), "{schedule:?}: {error}");
    }
    for name in ["", "a:b", "a\nb"] {
        let error = client.schedule(name, Schedule::every(SECOND), chime(7)).await.expect_err("no name");
        assert_eq!(error.field(), Some("schedule name"));
    }
    assert_eq!(db.count("SELECT count(*) FROM gen_durable_schedules").await, 0);
}

/// One at a time for each name.
#[durable_fsm(handler(Clockwork))]
pub enum Sole {
    #[step(start, key(name), next(Rest))]
    Rise { name: u64 },
    #[step(timeout = "1h", done)]
    Rest { name: u64 },
}

impl SoleSteps for Clockwork {
    async fn rise(&self, step: Rise, _: &StepContext) -> StepResult<Rise> {
        Ok(goto(Rest { name: step.name }))
    }
    async fn rest(&self, _: Rest, _: &StepContext) -> StepResult<Rest> {
        Ok(done(()))
    }
}

async fn a_slot_whose_business_key_is_held_starts_nothing(db: Db) {
    let client = client(&db);
    let worker =
        Worker::new(client.clone()).serve::<Sole, _>(Clockwork).leave_unserved().start().await.expect("starts");
    client.schedule("sole", Schedule::every(3_600 * SECOND), start(Rise { name: 7 })).await.expect("schedules");
    for new in [true, false] {
        due(&db, "sole").await;
        let fired = async || schedule(&client, "sole").await.last_is_new == Some(new);
        suite::eventually("it is fired", 10 * SECOND, fired).await;
    }
    assert_eq!(db.count("SELECT count(*) FROM gen_durable").await, 1);
    worker.stop().await;
}

mod v1 {
    use gen_durable::prelude::*;

    /// Its schedules live on in version 2; it needs no handlers.
    #[durable_fsm(name = "letter")]
    pub enum Letter {
        #[step(start, done)]
        Write { to: String },
    }
}

#[durable_fsm(name = "letter", version = 2, from(v1::Letter), handler(Clockwork))]
pub enum Letter {
    #[step(start, done)]
    Post { to: Vec<String>, note: String },
}

impl From<v1::Letter> for Letter {
    fn from(old: v1::Letter) -> Self {
        let v1::Letter::Write { to } = old;
        Self::Post { to: vec![to], note: "converted".into() }
    }
}

impl LetterSteps for Clockwork {
    async fn post(&self, _: Post, _: &StepContext) -> StepResult<Post> {
        Ok(done(()))
    }
}

async fn data_of_an_older_version_is_converted_as_its_rows_are(db: Db) {
    let client = client(&db);
    let write = start(v1::Write { to: "Ada".into() });
    client.schedule("letter", Schedule::every(3_600 * SECOND), write).await.expect("schedules");
    due(&db, "letter").await;
    let worker =
        Worker::new(client.clone()).serve::<Letter, _>(Clockwork).leave_unserved().start().await.expect("starts");
    let done = async || db.count("SELECT count(*) FROM gen_durable WHERE status = 'done'").await == 1;
    suite::eventually("it is posted", 10 * SECOND, done).await;
    worker.stop().await;
    let id = schedule(&client, "letter").await.last_instance.expect("fired");
    let Letter::Post { to, note } = client.get::<Letter>(id).await.expect("reads");
    assert_eq!((to, note.as_str()), (vec!["Ada".to_owned()], "converted"));
}
