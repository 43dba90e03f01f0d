//! The verb `schedules`.

use std::time::Duration;

use super::{args::SchedulesVerb, print};
use crate::{
    client::{Client, ScheduleSnapshot},
    model::schedule::LATE,
};

type Fault = Box<dyn std::error::Error + Send + Sync>;

pub(super) async fn run(client: &Client, verb: Option<SchedulesVerb>, json: bool) -> Result<(), Fault> {
    match verb {
        None => list(client, json).await,
        Some(SchedulesVerb::Pause { name }) => {
            client.pause_schedule(&name).await?;
            say(&name, "paused", json)
        }
        Some(SchedulesVerb::Resume { name }) => {
            client.resume_schedule(&name).await?;
            say(&name, "goes on", json)
        }
        Some(SchedulesVerb::Remove { name }) => match client.unschedule(&name).await? {
            true => say(&name, "removed", json),
            false => Err(format!("there is no schedule {name:?}").into()),
        },
        Some(SchedulesVerb::Fire { name }) => fire(client, &name, json).await,
    }
}

async fn fire(client: &Client, name: &str, json: bool) -> Result<(), Fault> {
    let started = client.fire_schedule(name).await?;
    let (id, new) = (started.id(), started.is_new());
    match (json, new) {
        (true, _) => print::json(&serde_json::json!({"id": id, "new": new})),
        (false, true) => print::line(format!("started instance {id}")),
        (false, false) => print::line(format!("not started: instance {id} has its business key")),
    }
    Ok(())
}

fn say(name: &str, what: &str, json: bool) -> Result<(), Fault> {
    match json {
        true => print::json(&serde_json::json!({"schedule": name, "did": what})),
        false => print::line(format!("{name} {what}")),
    }
    Ok(())
}

async fn list(client: &Client, json: bool) -> Result<(), Fault> {
    let schedules = client.schedules().await?;
    if json {
        schedules.iter().for_each(print::json);
        return Ok(());
    }
    let rows: Vec<Vec<String>> = schedules.iter().map(row).collect();
    print::table(&["name", "starts", "when", "next", "last", "instance", "note"], &rows);
    Ok(())
}

fn row(s: &ScheduleSnapshot) -> Vec<String> {
    let moment = |at: Option<jiff::Timestamp>| at.map_or_else(|| "-".to_owned(), |at| at.to_string());
    let next = if s.paused.is_some() { None } else { s.next };
    let instance = s.last_instance.map_or_else(|| "-".to_owned(), |id| id.to_string());
    let starts = format!("{} {}", s.machine, s.step);
    vec![s.name.clone(), starts, s.when.clone(), moment(next), moment(s.last_slot), instance, note(s)]
}

/// What is not as planned.
fn note(s: &ScheduleSnapshot) -> String {
    let late = s.last_slot.zip(s.last_fired).and_then(|(slot, at)| Duration::try_from(at.duration_since(slot)).ok());
    let notes = [
        s.paused.map(|_| "paused".to_owned()),
        s.orphaned.then(|| "in no live worker's code".to_owned()),
        s.error.as_ref().map(|error| format!("not fired: {error}")),
        late.filter(|late| *late > LATE).map(|late| format!("caught up {} s late", late.as_secs())),
        (s.last_is_new == Some(false)).then(|| "that has its business key".to_owned()),
        s.missed.map(|missed| format!("missed {missed}")),
    ];
    notes.into_iter().flatten().collect::<Vec<_>>().join("; ")
}
