//! Looking at schedules, and what may be done to one.

use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

use super::{Client, schedule::LOOKS};
use crate::{
    Error, StoreClass,
    machine::registry::{self, MachineRegistration},
    model::{InstanceId, Invalid, Started},
    store::{Fired, Firing, Said, ScheduleChange, Schedules, StoredSchedule},
};

/// Workers say every 30 s which schedules their code has.
const LIVE: Duration = Duration::from_secs(90);

/// A schedule as it stands in the database at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ScheduleSnapshot {
    /// Its name: `machine:step` where it stands in the code.
    pub name: String,
    /// Stored machine name.
    pub machine: String,
    /// Machine version: of code, the one whose annotation this is.
    pub version: i32,
    /// Stored name of the start step.
    pub step: String,
    /// When: `every 2h`, or the pattern and its zone.
    pub when: String,
    /// Missed slots are passed over.
    pub skip_missed: bool,
    /// It stands in an annotation; otherwise a client made it.
    pub in_code: bool,
    /// It stands in no live worker's code any more: nobody fires it.
    pub orphaned: bool,
    /// The slot that fires next.
    pub next: Option<Timestamp>,
    /// Since when it is paused.
    pub paused: Option<Timestamp>,
    /// The latest slot that was fired.
    pub last_slot: Option<Timestamp>,
    /// When that was: later than the slot, where it was caught up.
    pub last_fired: Option<Timestamp>,
    /// Its instance, or the one that held its business key.
    pub last_instance: Option<InstanceId>,
    /// Whether that was started for it.
    pub last_is_new: Option<bool>,
    /// The latest slot that got no instance of its own: it was missed.
    pub missed: Option<Timestamp>,
    /// Why its slot has no instance yet.
    pub error: Option<String>,
}

impl Client {
    /// All schedules, of the code and those made at run time, by name.
    ///
    /// # Errors
    /// The store's.
    pub async fn schedules(&self) -> Result<Vec<ScheduleSnapshot>, Error> {
        let Schedules { now, rows } = self.0.store.schedules(None).await?;
        Ok(rows.into_iter().map(|row| snapshot(row, now)).collect())
    }

    /// Removes a schedule; its instances stay. Whether there was one.
    ///
    /// # Errors
    /// Invalid when it stands in the code of a live worker, which would make it again; or the store's.
    pub async fn unschedule(&self, name: &str) -> Result<bool, Error> {
        for _ in 0..LOOKS {
            let Some((now, row)) = self.find_schedule(name).await? else { return Ok(false) };
            if row.definition.start.is_none() && row.unknown_for(now).is_some_and(|age| age < LIVE) {
                let text = "stands in the code of a live worker: take it out of the annotation, or pause it";
                return Err(Invalid::new("the schedule", text).into());
            }
            if self.0.store.remove_schedule(name, row.revision).await? {
                return Ok(true);
            }
        }
        Err(contended())
    }

    /// Lets no slot of it fire until [`Client::resume_schedule`]; pausing again is no error. Slots meanwhile are not caught up: they
    /// were not missed.
    ///
    /// # Errors
    /// `is_not_found`; or the store's.
    pub async fn pause_schedule(&self, name: &str) -> Result<(), Error> {
        self.change_schedule(name, |row, _| Ok((true, row.next))).await
    }

    /// Lets it go on, from its next slot.
    ///
    /// # Errors
    /// `is_not_found`; a zone that this machine does not know; or the store's.
    pub async fn resume_schedule(&self, name: &str) -> Result<(), Error> {
        let next = |row: &StoredSchedule, now| match row.paused {
            None => Ok((false, row.next)),
            Some(_) => Ok((false, row.definition.recurrence.read()?.after(now))),
        };
        self.change_schedule(name, next).await
    }

    /// Fires it now, for a slot of this moment, paused or not; the next slot stays as it is.
    ///
    /// # Errors
    /// `is_not_found` when there is no such schedule, or its machine is not linked into this program; what the start cannot be
    /// made of; or the store's.
    pub async fn fire_schedule(&self, name: &str) -> Result<Started, Error> {
        for _ in 0..LOOKS {
            let (now, row) = self.find_schedule(name).await?.ok_or_else(|| missing(name))?;
            let machine = registered(&row.definition.machine)?;
            let spec = row.definition.start_of(now, machine).map_err(|error| Error::work(error.into_failure()))?;
            let queue = spec.first_queue().to_owned();
            let (name, revision, next) = (row.name, row.revision, row.next);
            let firing = Firing { name, revision, next, fire: Some((now, spec)), missed: None };
            let fired = self.0.store.fire_schedules(&[firing]).await?;
            if let Some(Fired::Started(started)) = fired.first() {
                self.0.notifier.wake(queue);
                self.0.notifier.wake(Said::schedules());
                return Ok(*started);
            }
        }
        Err(contended())
    }

    async fn change_schedule(
        &self,
        name: &str,
        to: impl Fn(&StoredSchedule, Timestamp) -> Result<(bool, Option<Timestamp>), Invalid>,
    ) -> Result<(), Error> {
        for _ in 0..LOOKS {
            let (now, row) = self.find_schedule(name).await?.ok_or_else(|| missing(name))?;
            let (paused, next) = to(&row, now)?;
            let change = ScheduleChange { name: row.name, revision: row.revision, paused, next, error: row.error };
            if self.0.store.change_schedule(&change).await? {
                self.0.notifier.wake(Said::schedules());
                return Ok(());
            }
        }
        Err(contended())
    }

    async fn find_schedule(&self, name: &str) -> Result<Option<(Timestamp, StoredSchedule)>, Error> {
        let Schedules { now, mut rows } = self.0.store.schedules(Some(&[name.to_owned()])).await?;
        Ok(rows.pop().map(|row| (now, row)))
    }
}

fn missing(name: &str) -> Error {
    Error::not_found(format!("the schedule {name:?}"))
}

/// It fires so often that its row is never as it was read.
pub(super) fn contended() -> Error {
    Error::store("writing a schedule", StoreClass::Transient, "others write it all the time")
}

/// The newest version of the machine in this program.
fn registered(machine: &str) -> Result<&'static MachineRegistration, Error> {
    registry::newest(machine).ok_or_else(|| Error::not_found(format!("the machine {machine:?} in this program")))
}

fn snapshot(row: StoredSchedule, now: Timestamp) -> ScheduleSnapshot {
    let in_code = row.definition.start.is_none();
    let orphaned = in_code && row.unknown_for(now).is_none_or(|age| age >= LIVE);
    let definition = row.definition;
    ScheduleSnapshot {
        name: row.name,
        machine: definition.machine,
        version: definition.version,
        step: definition.step,
        when: definition.recurrence.to_string(),
        skip_missed: definition.skip_missed,
        in_code,
        orphaned,
        next: row.next,
        paused: row.paused,
        last_slot: row.last.map(|last| last.slot),
        last_fired: row.last.map(|last| last.at),
        last_instance: row.last.map(|last| last.started.id()),
        last_is_new: row.last.map(|last| last.started.is_new()),
        missed: row.missed,
        error: row.error,
    }
}
