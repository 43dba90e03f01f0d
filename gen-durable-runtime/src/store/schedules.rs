//! Schedules as they are kept: what is asked of a store, and what it answers.

use std::{collections::BTreeMap, time::Duration};

use jiff::Timestamp;
use serde_json::value::RawValue;

#[cfg(feature = "client")]
use crate::model::schedule::Slots;
use crate::{
    machine::{
        StepError,
        registry::{MachineRegistration, Stored},
    },
    model::{Invalid, Json, StartSpec, Started, schedule::Recurrence},
};

/// What a schedule starts, and when.
#[derive(Debug, Clone, PartialEq)]
pub struct ScheduleDefinition {
    /// Stored machine name.
    pub machine: String,
    /// The machine's version: of code, the one whose annotation this is.
    pub version: i32,
    /// Stored name of the start step.
    pub step: String,
    /// When.
    pub recurrence: Recurrence,
    /// A missed slot is passed over.
    pub skip_missed: bool,
    /// What a client described; `None` when it stands in an annotation, whose code makes the step of the slot.
    pub start: Option<ScheduledStart>,
}

/// A start that is made anew for each slot.
#[derive(Debug, Clone, PartialEq)]
pub struct ScheduledStart {
    /// Step data.
    pub state: Json,
    /// Facts all steps share.
    pub carry: Option<Json>,
    /// Instead of the machine's.
    pub queue: Option<String>,
    /// Instead of the machine's.
    pub priority: Option<i16>,
    /// Begin so much later than the slot is fired.
    pub delay: Duration,
    /// The field of the step data that the slot's instant goes to.
    pub slot_field: Option<String>,
}

impl ScheduleDefinition {
    /// What a slot starts, by the code of the machine that is linked in here. Step data of an older version is converted as a
    /// row of that version would be; of a version that this code does not know it is refused, as such a row is not run.
    ///
    /// # Errors
    /// What does not decode, or cannot be stored; no such start step, or no schedule on it.
    pub fn start_of(&self, slot: Timestamp, machine: &MachineRegistration) -> Result<StartSpec, StepError> {
        match &self.start {
            Some(start) => start.of(slot, self, machine),
            None => (machine.slot)(&self.step, slot)
                .unwrap_or_else(|| Err(StepError::new(format!("step {} has no schedule in the code", self.step)))),
        }
    }
}

impl ScheduledStart {
    fn of(
        &self,
        slot: Timestamp,
        from: &ScheduleDefinition,
        machine: &MachineRegistration,
    ) -> Result<StartSpec, StepError> {
        let mut stored = Stored { step: from.step.clone(), state: self.state_of(slot)?, carry: self.carry.clone() };
        let info = (machine.info)();
        if from.version != info.version {
            let unknown =
                || StepError::new(format!("version {} of machine {} is not known here", from.version, info.name));
            stored = (machine.upgrade)(from.version, stored).ok_or_else(unknown)??;
        }
        let carry = stored.carry.as_ref().map(Json::as_str);
        let mut spec = (machine.start)(Some(&stored.step), stored.state.as_str(), carry)?;
        (spec.queue, spec.priority, spec.delay) = (self.queue.clone(), self.priority, self.delay);
        spec.check()?;
        Ok(spec)
    }

    /// The step data of this slot: every other field as it was given, byte for byte.
    ///
    /// # Errors
    /// When the data is no JSON object.
    pub fn state_of(&self, slot: Timestamp) -> Result<Json, Invalid> {
        let Some(field) = &self.slot_field else { return Ok(self.state.clone()) };
        let mut fields: BTreeMap<String, Box<RawValue>> = self.state.decode("state")?;
        let instant = serde_json::value::to_raw_value(&slot);
        fields.insert(field.clone(), instant.map_err(|_| Invalid::new("slot_field", "cannot hold an instant"))?);
        Json::encode("state", &fields)
    }
}

/// A schedule as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredSchedule {
    /// Its name.
    pub name: String,
    /// What it starts, and when.
    pub definition: ScheduleDefinition,
    /// Grows with each write.
    pub revision: i64,
    /// The slot to fire next.
    pub next: Option<Timestamp>,
    /// Since when it is paused.
    pub paused: Option<Timestamp>,
    /// Of code: when a live worker last said that its code has it.
    pub known: Option<Timestamp>,
    /// The latest slot that was fired.
    pub last: Option<LastFire>,
    /// The latest slot that got no instance of its own.
    pub missed: Option<Timestamp>,
    /// Why its slot has no instance yet.
    pub error: Option<String>,
}

#[cfg(feature = "client")]
impl StoredSchedule {
    /// The slot to fire next when it fires by another recurrence from now on. A slot that has come keeps its instance, late;
    /// otherwise nothing fires for a time that is over.
    pub fn next_by(&self, recurrence: &Recurrence, slots: &Slots, now: Timestamp) -> Option<Timestamp> {
        let has_come = self.paused.is_none() && self.next.is_some_and(|next| next <= now);
        match self.next {
            Some(next) if has_come || self.definition.recurrence == *recurrence => Some(next),
            Some(_) | None => slots.after(self.last.map_or(now, |last| last.slot.max(now))),
        }
    }

    /// How long ago a live worker said that its code has it.
    pub fn unknown_for(&self, now: Timestamp) -> Option<Duration> {
        self.known.map(|known| Duration::try_from(now.duration_since(known)).unwrap_or(Duration::ZERO))
    }
}

/// A slot that was fired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastFire {
    /// The slot.
    pub slot: Timestamp,
    /// When it was fired.
    pub at: Timestamp,
    /// Its instance, or the occupant of its business key.
    pub started: Started,
}

/// Schedules at one moment.
#[derive(Debug)]
pub struct Schedules {
    /// The database's time.
    pub now: Timestamp,
    /// By name.
    pub rows: Vec<StoredSchedule>,
}

/// Schedules whose slot has come.
#[derive(Debug)]
pub struct DueSchedules {
    /// The database's time.
    pub now: Timestamp,
    /// Those that have waited for longest first.
    pub rows: Vec<StoredSchedule>,
    /// How long it is until the next slot of another one comes.
    pub next: Option<Duration>,
    /// Whether there is any schedule at all, of whatever machine.
    pub some: bool,
}

/// One schedule that moves to its next slot.
#[derive(Debug, Clone)]
pub struct Firing {
    /// Its name.
    pub name: String,
    /// As it was read.
    pub revision: i64,
    /// The slot to fire next.
    pub next: Option<Timestamp>,
    /// The slot that is fired, and what it starts.
    pub fire: Option<(Timestamp, StartSpec)>,
    /// The latest slot that gets no instance.
    pub missed: Option<Timestamp>,
}

/// What became of a firing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fired {
    /// Its slot has an instance: this one, or the occupant of its business key.
    Started(Started),
    /// Its slots were passed over.
    PassedOver,
    /// It is not as it was read, or someone else is firing it.
    Lost,
}

/// A schedule to be made, or written anew.
#[derive(Debug, Clone)]
pub struct PutSchedule {
    /// Its name.
    pub name: String,
    /// What it starts, and when.
    pub definition: ScheduleDefinition,
    /// The slot to fire next.
    pub next: Option<Timestamp>,
    /// As it was read; `None` when there was none.
    pub revision: Option<i64>,
}

/// A schedule to be paused or to go on, or what keeps its slot from having an instance.
#[derive(Debug, Clone)]
pub struct ScheduleChange {
    /// Its name.
    pub name: String,
    /// As it was read.
    pub revision: i64,
    /// Whether it is paused.
    pub paused: bool,
    /// The slot to fire next.
    pub next: Option<Timestamp>,
    /// Why its slot has no instance yet.
    pub error: Option<String>,
}

/// The columns of a row that say when: microseconds, pattern, zone.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(super) type WhenColumns<'a> = (Option<i64>, Option<&'a str>, Option<&'a str>);

#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(super) fn when(recurrence: &Recurrence) -> WhenColumns<'_> {
    match recurrence {
        Recurrence::Every(span) => (Some(super::written::micros(*span)), None, None),
        Recurrence::Cron { pattern, tz } => (None, Some(pattern), tz.as_deref()),
    }
}

/// From the columns of a row; exactly one of the first two is there.
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(super) fn recurrence(every_us: Option<i64>, cron: Option<String>, tz: Option<String>) -> Recurrence {
    let span = Duration::from_micros(every_us.and_then(|us| u64::try_from(us).ok()).unwrap_or(0));
    cron.map_or(Recurrence::Every(span), |pattern| Recurrence::Cron { pattern, tz })
}
