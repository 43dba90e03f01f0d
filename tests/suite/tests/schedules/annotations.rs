//! Schedules that stand in the code, over deploys.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use gen_durable::{Client, RunningWorker, Schedule, Slot, Worker, prelude::*};
use jiff::{SignedDuration, Timestamp};
use suite::{Db, eventually};

use super::{SECOND, are_all, client, fired, schedule, slots, ticks, tocks, until_fired};
use crate::clockwork::Clockwork;

suite::stores! {
    both {
        each_slot_of_the_code_has_one_instance_on_time,
        a_changed_annotation_takes_effect_at_the_next_boot_and_fires_nothing_twice,
        a_slot_that_came_before_the_change_is_caught_up_once,
        an_older_worker_leaves_the_row_of_a_newer_one_alone,
        a_version_that_was_rolled_back_gives_its_row_up,
        a_renamed_machine_keeps_its_schedule,
        of_two_rows_of_one_schedule_the_one_of_its_old_name_goes,
        a_schedule_that_no_code_has_is_kept_and_marked_and_not_fired,
        a_slot_that_cannot_start_stays_says_why_and_holds_up_no_other,
        hundreds_that_cannot_start_hold_up_no_other_and_data_of_an_unknown_version_starts_nothing,
        an_unknown_zone_or_a_day_that_never_comes_is_a_boot_error,
    }
}

/// Fired within 100 ms of the slot (asserted: half of them within 200 ms, none early).
async fn each_slot_of_the_code_has_one_instance_on_time(db: Db) {
    let client = client(&db);
    let began = Timestamp::now();
    let (one, other) = (ticks(&client).await, ticks(&client).await);
    are_all(&until_fired(&client, "tick", 4, 6 * SECOND).await, SECOND);
    one.stop().await;
    other.stop().await;
    let slots = slots(&client, "tick").await;
    assert!(slots[0].0 > began && slots[0].0 <= began.checked_add(SignedDuration::from_secs(2)).expect("a moment"));
    let mut late: Vec<SignedDuration> = slots.iter().map(|(slot, started, _)| started.duration_since(*slot)).collect();
    late.sort();
    assert!(late[0] >= SignedDuration::ZERO && late[late.len() / 2] < SignedDuration::from_millis(200), "{late:?}");
    let seen = schedule(&client, "tick:strike").await;
    assert_eq!((seen.when.as_str(), seen.in_code, seen.orphaned), ("every 1s", true, false));
}

mod v1 {
    use gen_durable::{Slot, prelude::*};
    use jiff::Timestamp;

    #[durable_fsm(name = "report", handler(super::Clockwork))]
    pub enum Report {
        #[step(start, every = "1h", done)]
        Gather { at: Timestamp },
    }
    impl From<Slot> for Gather {
        fn from(slot: Slot) -> Self {
            Self { at: slot.at }
        }
    }
    impl ReportSteps for super::Clockwork {
        async fn gather(&self, _: Gather, _: &StepContext) -> StepResult<Gather> {
            Ok(done(()))
        }
    }
}

/// The newer version: another time, and a name of its own for the step.
#[durable_fsm(name = "report", version = 2, handler(Clockwork))]
pub enum Report {
    #[step(start, name = "collect", alias = "gather", cron = "0 9 * * *", tz = "Europe/Berlin", done)]
    Collect { at: Timestamp },
}

impl From<Slot> for Collect {
    fn from(slot: Slot) -> Self {
        Self { at: slot.at }
    }
}

impl ReportSteps for Clockwork {
    async fn collect(&self, _: Collect, _: &StepContext) -> StepResult<Collect> {
        Ok(done(()))
    }
}

async fn older(client: &Client) -> RunningWorker {
    Worker::new(client.clone()).serve::<v1::Report, _>(Clockwork).leave_unserved().start().await.expect("starts")
}

async fn newer(client: &Client) -> RunningWorker {
    Worker::new(client.clone()).serve::<Report, _>(Clockwork).leave_unserved().start().await.expect("starts")
}

/// The name of the row stays, whatever the step is called by then.
const REPORT: &str = "report:gather";

async fn until_version(client: &Client, version: i32) {
    let is = async || {
        let all = client.schedules().await.expect("lists");
        all.iter().any(|s| s.name == REPORT && s.version == version)
    };
    eventually(&format!("version {version} has the row"), 10 * SECOND, is).await;
}

async fn version_1_was_here(client: &Client) {
    let worker = older(client).await;
    until_version(client, 1).await;
    worker.stop().await;
}

fn nine_in_berlin(after: Timestamp) -> Timestamp {
    let zone = jiff::tz::TimeZone::get("Europe/Berlin").expect("a zone");
    let today = zone.to_datetime(after).date();
    let days = [today, today.tomorrow().expect("a day")];
    let nine = days.map(|day| zone.to_timestamp(day.at(9, 0, 0, 0)).expect("it exists"));
    nine.into_iter().find(|nine| *nine > after).expect("within a day")
}

async fn a_changed_annotation_takes_effect_at_the_next_boot_and_fires_nothing_twice(db: Db) {
    let client = client(&db);
    version_1_was_here(&client).await;
    let before = schedule(&client, REPORT).await;
    assert_eq!(before.next.expect("comes").as_second() % 3_600, 0);
    let worker = newer(&client).await;
    until_version(&client, 2).await;
    let seen = schedule(&client, REPORT).await;
    assert_eq!(seen.next, Some(nine_in_berlin(Timestamp::now())));
    assert_eq!((seen.when.as_str(), seen.step.as_str()), ("0 9 * * * Europe/Berlin", "collect"));
    worker.stop().await;
    // As an annotation of the same version says otherwise: the code that boots last has its way.
    db.run("UPDATE gen_durable_schedules SET every_us = 60000000, cron = NULL, tz = NULL, next_at = next_at + interval '1 min'").await;
    let worker = newer(&client).await;
    let back = async || schedule(&client, REPORT).await.when == "0 9 * * * Europe/Berlin";
    eventually("it is as the code says", 10 * SECOND, back).await;
    assert_eq!(schedule(&client, REPORT).await.next, Some(nine_in_berlin(Timestamp::now())));
    assert_eq!(fired(&client, "report").await, []);
    worker.stop().await;
    // Once more nothing changes.
    let revision = "SELECT revision FROM gen_durable_schedules";
    let before = db.count(revision).await;
    let worker = newer(&client).await;
    tokio::time::sleep(SECOND).await;
    worker.stop().await;
    assert_eq!(db.count(revision).await, before);
}

async fn a_slot_that_came_before_the_change_is_caught_up_once(db: Db) {
    let client = client(&db);
    version_1_was_here(&client).await;
    db.run("UPDATE gen_durable_schedules SET next_at = now() - interval '1 min'").await;
    let due = schedule(&client, REPORT).await.next.expect("due");
    let worker = newer(&client).await;
    assert_eq!(until_fired(&client, "report", 1, 10 * SECOND).await, [due]);
    assert_eq!(schedule(&client, REPORT).await.next, Some(nine_in_berlin(Timestamp::now())));
    worker.stop().await;
    for worker in [newer(&client).await, older(&client).await] {
        tokio::time::sleep(SECOND).await;
        worker.stop().await;
    }
    assert_eq!(fired(&client, "report").await, [due]);
}

/// A rolling deploy: one of each, and the older one is started again.
async fn an_older_worker_leaves_the_row_of_a_newer_one_alone(db: Db) {
    let client = client(&db);
    version_1_was_here(&client).await;
    let new = newer(&client).await;
    until_version(&client, 2).await;
    new.stop().await;
    let before = client.schedules().await.expect("lists");
    db.run("UPDATE gen_durable_schedules SET next_at = now()").await;
    let old = older(&client).await;
    tokio::time::sleep(1_500 * Duration::from_millis(1)).await;
    let after = client.schedules().await.expect("lists");
    assert_eq!((after.len(), after[0].version, &after[0].when), (1, 2, &before[0].when));
    assert_eq!(fired(&client, "report").await, [], "an instance of version 1 may find nobody soon");
    let _new = newer(&client).await;
    until_fired(&client, "report", 1, 10 * SECOND).await;
    assert_eq!(db.count("SELECT min(fsm_version)::bigint FROM gen_durable").await, 2);
    old.stop().await;
}

async fn a_version_that_was_rolled_back_gives_its_row_up(db: Db) {
    let client = client(&db);
    version_1_was_here(&client).await;
    let new = newer(&client).await;
    until_version(&client, 2).await;
    new.stop().await;
    db.run("UPDATE gen_durable_schedules SET known_at = now() - interval '6 min', next_at = now() - interval '1 min'")
        .await;
    let old = older(&client).await;
    until_version(&client, 1).await;
    assert_eq!(until_fired(&client, "report", 1, 10 * SECOND).await.len(), 1);
    assert_eq!(schedule(&client, REPORT).await.when, "every 1h");
    old.stop().await;
}

#[durable_fsm(name = "renamed", alias = "tick", version = 2, handler(Clockwork))]
pub enum Renamed {
    #[step(start, name = "anew", alias = "strike", every = "1s", done)]
    Anew { at: Timestamp },
}

impl From<Slot> for Anew {
    fn from(slot: Slot) -> Self {
        Self { at: slot.at }
    }
}

impl RenamedSteps for Clockwork {
    async fn anew(&self, _: Anew, _: &StepContext) -> StepResult<Anew> {
        Ok(done(()))
    }
}

async fn a_renamed_machine_keeps_its_schedule(db: Db) {
    let client = client(&db);
    let old = ticks(&client).await;
    until_fired(&client, "tick", 1, 5 * SECOND).await;
    let new =
        Worker::new(client.clone()).serve::<Renamed, _>(Clockwork).leave_unserved().start().await.expect("starts");
    until_fired(&client, "renamed", 2, 5 * SECOND).await;
    old.stop().await;
    new.stop().await;
    let mut all = [fired(&client, "tick").await, fired(&client, "renamed").await].concat();
    all.sort();
    are_all(&all, SECOND);
    let names: Vec<String> = client.schedules().await.expect("lists").into_iter().map(|s| s.name).collect();
    assert_eq!(names, ["tick:strike"]);
}

/// As a worker of the old name leaves one behind that booted first after the new one.
async fn of_two_rows_of_one_schedule_the_one_of_its_old_name_goes(db: Db) {
    let client = client(&db);
    let renamed = || async {
        Worker::new(client.clone()).serve::<Renamed, _>(Clockwork).leave_unserved().start().await.expect("starts")
    };
    let new = renamed().await;
    until_fired(&client, "renamed", 1, 5 * SECOND).await;
    new.stop().await;
    let old = ticks(&client).await;
    until_fired(&client, "tick", 1, 5 * SECOND).await;
    old.stop().await;
    assert_eq!(client.schedules().await.expect("lists").len(), 2);
    let new = renamed().await;
    let alone = async || client.schedules().await.expect("lists").len() == 1;
    eventually("the old row goes", 5 * SECOND, alone).await;
    assert_eq!(schedule(&client, "renamed:anew").await.version, 2);
    new.stop().await;
}

async fn a_schedule_that_no_code_has_is_kept_and_marked_and_not_fired(db: Db) {
    let client = client(&db);
    let worker = ticks(&client).await;
    until_fired(&client, "tick", 1, 5 * SECOND).await;
    let refused = client.unschedule("tick:strike").await.expect_err("its code is live");
    assert!(refused.is_invalid() && refused.to_string().contains("in the code of a live worker"), "{refused}");
    worker.stop().await;
    let there = fired(&client, "tick").await;
    let worker = tocks(&client).await;
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    assert_eq!(fired(&client, "tick").await, there, "nobody has it");
    db.run("UPDATE gen_durable_schedules SET known_at = now() - interval '2 min'").await;
    assert!(schedule(&client, "tick:strike").await.orphaned);
    worker.stop().await;
    assert!(client.unschedule("tick:strike").await.expect("removes"));
}

/// Its slot cannot be made while it is broken.
#[derive(Clone, Default)]
pub struct Broken;

static IS_BROKEN: AtomicBool = AtomicBool::new(true);

#[durable_fsm(handler(Broken))]
pub enum Fragile {
    #[step(start, every = "2s", done)]
    Crack { at: Timestamp },
}

impl From<Slot> for Crack {
    fn from(slot: Slot) -> Self {
        assert!(!IS_BROKEN.load(Ordering::Acquire), "it is broken");
        Self { at: slot.at }
    }
}

impl FragileSteps for Broken {
    async fn crack(&self, _: Crack, _: &StepContext) -> StepResult<Crack> {
        Ok(done(()))
    }
}

async fn a_slot_that_cannot_start_stays_says_why_and_holds_up_no_other(db: Db) {
    let client = client(&db);
    let worker =
        Worker::new(client.clone()).shared_handler(Arc::new(Broken)).serve::<crate::clockwork::Tick, _>(Clockwork);
    let worker = worker.leave_unserved().start().await.expect("starts");
    let says = async || {
        let all = client.schedules().await.expect("lists");
        all.iter().any(|s| s.error.as_deref().is_some_and(|error| error.contains("panicked: it is broken")))
    };
    eventually("it says why", 10 * SECOND, says).await;
    let ticks = fired(&client, "tick").await.len();
    are_all(&until_fired(&client, "tick", ticks + 3, 6 * SECOND).await, SECOND);
    assert_eq!(fired(&client, "fragile").await, []);
    IS_BROKEN.store(false, Ordering::Release);
    let cracks = until_fired(&client, "fragile", 1, 10 * SECOND).await;
    assert_eq!(cracks.len(), 1);
    let seen = schedule(&client, "fragile:crack").await;
    assert_eq!(seen.error, None);
    assert!(seen.missed.is_some_and(|missed| missed < cracks[0]), "{seen:?}");
    worker.stop().await;
    IS_BROKEN.store(true, Ordering::Release);
}

#[durable_fsm(handler(Clockwork))]
pub enum Nowhere {
    #[step(start, cron = "0 9 * * *", tz = "Europe/Berln", done)]
    Lost { at: Timestamp },
}

#[durable_fsm(handler(Clockwork))]
pub enum Never {
    #[step(start, cron = "0 0 31 6 *", done)]
    Always { at: Timestamp },
}

impl From<Slot> for Lost {
    fn from(slot: Slot) -> Self {
        Self { at: slot.at }
    }
}

impl From<Slot> for Always {
    fn from(slot: Slot) -> Self {
        Self { at: slot.at }
    }
}

impl NowhereSteps for Clockwork {
    async fn lost(&self, _: Lost, _: &StepContext) -> StepResult<Lost> {
        Ok(done(()))
    }
}

impl NeverSteps for Clockwork {
    async fn always(&self, _: Always, _: &StepContext) -> StepResult<Always> {
        Ok(done(()))
    }
}

async fn an_unknown_zone_or_a_day_that_never_comes_is_a_boot_error(db: Db) {
    let client = client(&db);
    let worker = Worker::new(client.clone()).serve::<Nowhere, _>(Clockwork).serve::<Never, _>(Clockwork);
    let refused = worker.leave_unserved().start().await.expect_err("refused");
    let text = refused.to_string();
    assert!(refused.is_boot(), "{text}");
    for said in [
        "step `Lost`",
        "tz names no time zone that this machine knows, \"Europe/Berln\"",
        "step `Always`",
        "cron never comes",
    ] {
        assert!(text.contains(said), "{said} is missing in {text}");
    }
}

/// More than a page of them, all with an older slot.
async fn hundreds_that_cannot_start_hold_up_no_other_and_data_of_an_unknown_version_starts_nothing(db: Db) {
    let client = client(&db);
    let chime = || gen_durable::start(crate::clockwork::Chime { at: Timestamp::UNIX_EPOCH, tenant: 7 });
    for n in 0..230 {
        let name = format!("stuck {n}");
        client.schedule(&name, Schedule::every(SECOND).slot_field("at"), chime()).await.expect("schedules");
    }
    // As if a version that is not in the chain of any code here had made them.
    db.run("UPDATE gen_durable_schedules SET fsm_version = 0 WHERE name LIKE 'stuck %'").await;
    tokio::time::sleep(2 * SECOND).await;
    client.schedule("fine", Schedule::every(SECOND).slot_field("at"), chime()).await.expect("schedules");
    let worker = Worker::new(client.clone()).serve::<crate::clockwork::Tock, _>(Clockwork).leave_unserved();
    let worker = worker.start().await.expect("starts");
    let fires = async || schedule(&client, "fine").await.last_slot.is_some();
    eventually("the one that can fires", 10 * SECOND, fires).await;
    let stuck = schedule(&client, "stuck 7").await;
    assert!(stuck.last_slot.is_none(), "{stuck:?}");
    assert!(stuck.error.as_deref().is_some_and(|e| e.contains("version 0 of machine tock is not known")), "{stuck:?}");
    assert!(client.fire_schedule("stuck 7").await.is_err(), "nor by hand");
    worker.stop().await;
}
