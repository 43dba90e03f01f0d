//! Schedules: one instance for each slot, whatever happens to the workers. Each test is named after its promise.
#![allow(unreachable_pub)] // machines are public as in a user's crate

#[path = "../../src/clockwork.rs"]
mod clockwork;

mod annotations;
mod idle;
mod killed;
mod many;
mod missed;
mod runtime;
mod zones;

use std::{collections::BTreeMap, time::Duration};

use gen_durable::{Client, Filter, InstanceId, RunningWorker, ScheduleSnapshot, Worker};
use jiff::{SignedDuration, Timestamp};
use suite::{Db, WorkerOptions, store_options};

use clockwork::{Clockwork, Tick, Tock};

const SECOND: Duration = Duration::from_secs(1);

/// A worker process on this database: it serves both machines.
fn process(db: &Db) -> WorkerOptions {
    WorkerOptions::new(env!("CARGO_BIN_EXE_suite-schedules"), db)
}

fn client(db: &Db) -> Client {
    Client::on(store_options(&db.url).open().expect("a store"))
}

/// A worker in this process that serves what only a client schedules.
async fn tocks(client: &Client) -> RunningWorker {
    Worker::new(client.clone()).serve::<Tock, _>(Clockwork).leave_unserved().start().await.expect("starts")
}

/// A worker in this process that serves what the code schedules.
async fn ticks(client: &Client) -> RunningWorker {
    Worker::new(client.clone()).serve::<Tick, _>(Clockwork).leave_unserved().start().await.expect("starts")
}

/// The slots of the instances of a machine, in order, and when each was started.
async fn slots(client: &Client, machine: &str) -> Vec<(Timestamp, Timestamp, InstanceId)> {
    let all = client.list(Filter::default().machine(machine).limit(10_000)).await.expect("lists");
    let slot = |state: &serde_json::value::RawValue| -> Timestamp {
        let state: BTreeMap<String, serde_json::Value> = serde_json::from_str(state.get()).expect("an object");
        state["at"].as_str().expect("a text").parse().expect("a moment")
    };
    let mut slots: Vec<_> = all.iter().map(|row| (slot(&row.state), row.inserted_at, row.id)).collect();
    slots.sort();
    slots
}

/// The slots alone.
async fn fired(client: &Client, machine: &str) -> Vec<Timestamp> {
    slots(client, machine).await.into_iter().map(|(slot, ..)| slot).collect()
}

/// Waits until so many instances of a machine are there; answers with their slots.
async fn until_fired(client: &Client, machine: &str, count: usize, within: Duration) -> Vec<Timestamp> {
    let enough = async || fired(client, machine).await.len() >= count;
    suite::eventually(&format!("{count} of {machine}"), within, enough).await;
    fired(client, machine).await
}

/// Every slot of an interval from the first to the last has one instance.
#[track_caller]
fn are_all(slots: &[Timestamp], every: Duration) {
    let every = SignedDuration::try_from(every).expect("short");
    for pair in slots.windows(2) {
        assert_eq!(pair[0].checked_add(every).expect("a moment"), pair[1], "of {slots:?}");
    }
}

async fn schedule(client: &Client, name: &str) -> ScheduleSnapshot {
    let all = client.schedules().await.expect("lists");
    all.into_iter().find(|schedule| schedule.name == name).unwrap_or_else(|| panic!("there is no {name}"))
}
