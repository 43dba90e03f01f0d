//! Slots that come while the test moves the clock.

use std::time::Duration;

use gen_durable::{Filter, Schedule, Slot, prelude::*, testing::TestKit};
use jiff::{SignedDuration, Timestamp, ToSpan, tz::TimeZone};

use super::minutes;

/// The handler of what is scheduled.
pub struct Clockwork;

/// By its annotation.
#[durable_fsm(handler(Clockwork))]
pub enum Nightly {
    #[step(start, cron = "30 2 * * *", tz = "Europe/Berlin", done)]
    Sweep { at: Timestamp },
}

/// The same in New York, but not late.
#[durable_fsm(handler(Clockwork))]
pub enum Promptly {
    #[step(start, cron = "30 1 * * *", tz = "America/New_York", missed = "skip", done)]
    Brush { at: Timestamp },
}

/// As the test says.
#[durable_fsm(handler(Clockwork))]
pub enum Tock {
    #[step(start, done)]
    Chime { at: Timestamp },
}

impl From<Slot> for Sweep {
    fn from(slot: Slot) -> Self {
        Self { at: slot.at }
    }
}

impl From<Slot> for Brush {
    fn from(slot: Slot) -> Self {
        Self { at: slot.at }
    }
}

impl NightlySteps for Clockwork {
    async fn sweep(&self, step: Sweep, cx: &StepContext) -> StepResult<Sweep> {
        assert!(step.at <= cx.now());
        Ok(done(()))
    }
}

impl PromptlySteps for Clockwork {
    async fn brush(&self, step: Brush, cx: &StepContext) -> StepResult<Brush> {
        assert_eq!(step.at, cx.now());
        Ok(done(()))
    }
}

impl TockSteps for Clockwork {
    async fn chime(&self, _: Chime, _: &StepContext) -> StepResult<Chime> {
        Ok(done(()))
    }
}

/// The slots of a machine's instances, in the order of their starts.
async fn slots(kit: &TestKit, machine: &str) -> Vec<Timestamp> {
    let mut all = kit.client().list(Filter::default().machine(machine).limit(10_000)).await.expect("lists");
    all.reverse();
    all.iter().map(|row| serde_json::from_str::<At>(row.state.get()).expect("a moment").at).collect()
}

#[derive(serde::Deserialize)]
struct At {
    at: Timestamp,
}

/// Half past an hour of each day after a moment; where it does not exist, when the clocks were set, and the first of two.
fn half_past(hour: i8, zone: &str, from: Timestamp, to: Timestamp) -> Vec<Timestamp> {
    let zone = TimeZone::get(zone).expect("a zone");
    let mut day = zone.to_datetime(from).date();
    let mut found = Vec::new();
    while day <= zone.to_datetime(to).date() {
        let wall = zone.to_ambiguous_timestamp(day.at(hour, 30, 0, 0));
        let slot = match wall.offset() {
            // Both zones leave out one hour, on the hour.
            jiff::tz::AmbiguousOffset::Gap { .. } => wall.later().expect("a moment") - 30.minutes(),
            _ => wall.earlier().expect("a moment"),
        };
        found.extend((slot > from && slot <= to).then_some(slot));
        day = day.tomorrow().expect("a day");
    }
    found
}

/// A year has both days on which clocks are set.
#[tokio::test]
async fn a_year_of_nights_has_one_instance_each_also_when_clocks_are_set() {
    let kit = TestKit::builder().await.handler(Clockwork).build();
    let began = kit.now();
    kit.run_for(minutes(370 * 24 * 60)).await;
    assert_eq!(slots(&kit, "nightly").await, half_past(2, "Europe/Berlin", began, kit.now()));
    assert_eq!(slots(&kit, "promptly").await, half_past(1, "America/New_York", began, kit.now()));
}

#[tokio::test]
async fn slots_that_the_clock_jumps_over_are_caught_up_once_or_skipped() {
    let kit = TestKit::builder().await.handler(Clockwork).build();
    let began = kit.now();
    // Before the first drain: what comes from here on is due.
    kit.advance(minutes(5 * 24 * 60));
    assert_eq!(kit.drain().await, 1);
    let all = half_past(2, "Europe/Berlin", began, kit.now());
    assert_eq!(slots(&kit, "nightly").await, all[all.len() - 1..]);
    assert_eq!(slots(&kit, "promptly").await, []);
    let seen = kit.client().schedules().await.expect("lists");
    let names: Vec<&str> = seen.iter().map(|schedule| schedule.name.as_str()).collect();
    assert_eq!(names, ["nightly:sweep", "promptly:brush"]);
    assert_eq!((seen[0].last_slot, seen[0].missed), (all.last().copied(), all.get(all.len() - 2).copied()));
    assert!(seen[1].missed.is_some() && seen[1].last_slot.is_none());
}

#[tokio::test]
async fn a_schedule_made_in_a_test_fires_as_its_clock_goes() {
    let kit = TestKit::builder().await.serve::<Tock, _>(Clockwork).build();
    let every = Duration::from_secs(90);
    let chime = start(Chime { at: Timestamp::UNIX_EPOCH });
    kit.client().schedule("chime", Schedule::every(every).slot_field("at"), chime).await.expect("schedules");
    let began = kit.now();
    assert_eq!(kit.run_for(minutes(15)).await, 10);
    let slots = slots(&kit, "tock").await;
    assert!(slots[0] > began && slots[0].as_second() % 90 == 0);
    assert!(slots.windows(2).all(|pair| pair[1].duration_since(pair[0]) == SignedDuration::from_secs(90)));
    kit.client().pause_schedule("chime").await.expect("pauses");
    assert_eq!(kit.run_for(minutes(15)).await, 0);
    kit.client().resume_schedule("chime").await.expect("goes on");
    assert_eq!(kit.run_for(minutes(3)).await, 2);
}
