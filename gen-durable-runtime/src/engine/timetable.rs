//! The schedules that stand in the code of this process, and what becomes of their rows.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;

use super::{
    boot::{names, step_names},
    catalog::Served,
};
use crate::{
    machine::{ScheduleInfo, ScheduleWhen, StepInfo},
    model::schedule::{Recurrence, Slots},
    store::{PutSchedule, ScheduleDefinition, StoredSchedule},
};

/// How often it is said that a live worker's code has a schedule.
const KNOWN: Duration = Duration::from_secs(30);
/// A newer version that nobody has said to have for so long was rolled back: then an older one may have its row.
const GONE: Duration = Duration::from_secs(5 * 60);

/// A schedule of the code.
pub(super) struct Planned {
    /// The name of its row; then those it may have from before a rename.
    pub(super) names: Vec<String>,
    pub(super) definition: ScheduleDefinition,
    slots: Slots,
}

/// What this process schedules, and for which machines it fires.
#[derive(Default)]
pub(super) struct Timetable {
    planned: Vec<Planned>,
    /// Stored names, older ones included.
    machines: Vec<String>,
}

/// What becomes of the row of a schedule.
#[derive(Debug)]
pub(super) enum Keeping {
    /// It is made, or written anew.
    Put(Box<PutSchedule>),
    /// A live worker has it: this one says so.
    Known(String),
    /// It is as it should be, or another's.
    Leave,
}

impl Timetable {
    /// The schedules of these machines, and what is wrong with them.
    pub(super) fn of(served: &[Arc<Served>], machines: Vec<String>) -> (Self, Vec<String>) {
        let (mut planned, mut faults) = (Vec::new(), Vec::new());
        for served in served {
            for step in served.info.steps {
                let Some(schedule) = step.schedules.first() else { continue };
                match Planned::of(served, step, schedule) {
                    Ok(schedule) => planned.push(schedule),
                    Err(fault) => faults.push(fault),
                }
            }
        }
        (Self { planned, machines }, faults)
    }

    pub(super) fn planned(&self) -> &[Planned] {
        &self.planned
    }

    /// The stored names of the machines whose schedules this process may fire.
    pub(super) fn machines(&self) -> &[String] {
        &self.machines
    }

    /// Whether the code of this process has the schedule of this row, in its version or one that is still live: an older
    /// worker would start an older instance.
    pub(super) fn has(&self, row: &StoredSchedule, now: Timestamp) -> bool {
        let mut named = self.planned.iter().filter(|planned| planned.names.contains(&row.name));
        named.any(|planned| !planned.is_behind(row, now))
    }
}

impl Planned {
    fn of(served: &Served, step: &'static StepInfo, schedule: &ScheduleInfo) -> Result<Self, String> {
        let info = served.info;
        let recurrence = match schedule.when {
            ScheduleWhen::Every(span) => Recurrence::Every(span),
            ScheduleWhen::Cron(pattern) => {
                Recurrence::Cron { pattern: pattern.into(), tz: schedule.tz.map(Into::into) }
            }
        };
        let fault = |why| format!("machine `{}` ({}), step `{}`: `{why}`", info.name, info.rust_path, step.variant);
        let slots = recurrence.read().map_err(fault)?;
        let named = names(info).flat_map(|machine| step_names(step).map(move |step| format!("{machine}:{step}")));
        let definition = ScheduleDefinition {
            machine: info.name.into(),
            version: info.version,
            step: step.name.into(),
            recurrence,
            skip_missed: schedule.skip_missed,
            start: None,
        };
        Ok(Self { names: named.collect(), definition, slots })
    }

    /// The row is of a newer version that lives.
    fn is_behind(&self, row: &StoredSchedule, now: Timestamp) -> bool {
        row.definition.version > self.definition.version && row.unknown_for(now).is_some_and(|age| age < GONE)
    }

    /// The rows among these that it had under other names, beside the one that counts: each would fire its slots again.
    pub(super) fn twins<'r>(
        &self,
        rows: &'r [StoredSchedule],
        now: Timestamp,
    ) -> impl Iterator<Item = &'r StoredSchedule> {
        let named = self.names.iter().filter_map(|name| rows.iter().find(|row| row.name == *name));
        named.skip(1).filter(|row| !self.is_behind(row, now)).collect::<Vec<_>>().into_iter()
    }

    /// What becomes of its row among these. `boot` is when a changed annotation takes effect.
    pub(super) fn keep(&self, rows: &[StoredSchedule], now: Timestamp, boot: bool) -> Keeping {
        let row = self.names.iter().find_map(|name| rows.iter().find(|row| row.name == *name));
        let Some(row) = row else {
            let (name, next) = (self.names[0].clone(), self.slots.after(now));
            let put = PutSchedule { name, definition: self.definition.clone(), next, revision: None };
            return Keeping::Put(Box::new(put));
        };
        let is_changed =
            row.definition != self.definition && (boot || row.definition.version != self.definition.version);
        match is_changed {
            _ if self.is_behind(row, now) => Keeping::Leave,
            true => Keeping::Put(Box::new(PutSchedule {
                name: row.name.clone(),
                definition: self.definition.clone(),
                next: row.next_by(&self.definition.recurrence, &self.slots, now),
                revision: Some(row.revision),
            })),
            false if boot || row.unknown_for(now).is_none_or(|age| age >= KNOWN) => Keeping::Known(row.name.clone()),
            false => Keeping::Leave,
        }
    }
}
