use std::time::Duration;

use super::Client;
use crate::{
    Error,
    machine::{Machine, Startable},
    model::{
        Invalid, StartSpec, limits,
        schedule::{Recurrence, Slots},
    },
    store::{PutSchedule, Said, ScheduleDefinition, ScheduledStart, Schedules},
};

/// How often a write that others were quicker at is tried again.
pub(super) const LOOKS: usize = 20;

/// When a schedule made at run time fires: see [`Client::schedule`].
///
/// ```
/// # use gen_durable_runtime::client::Schedule;
/// # use std::time::Duration;
/// let each_morning = Schedule::cron("0 9 * * mon-fri").tz("Europe/Berlin");
/// let often = Schedule::every(Duration::from_secs(90)).skip_missed();
/// ```
#[derive(Debug, Clone)]
#[must_use = "a schedule does nothing until it is handed to `Client::schedule`"]
pub struct Schedule {
    recurrence: Recurrence,
    tz: Option<String>,
    skip_missed: bool,
    slot_field: Option<String>,
}

impl Schedule {
    /// At the multiples of this span since 1970-01-01T00:00Z, so that restarts change nothing: every two hours is at even
    /// hours UTC, whenever it was made. From 1 ms to 100 years.
    pub fn every(span: Duration) -> Self {
        Self { recurrence: Recurrence::Every(span), tz: None, skip_missed: false, slot_field: None }
    }

    /// By a pattern of five fields, minute, hour, day of month, month, day of week: `0 9 * * mon-fri`. In UTC, unless
    /// [`Schedule::tz`] names a zone.
    ///
    /// A day matches by its day of month or by its day of week, where both are given. Where the clocks of the zone are set
    /// forward, a time that does not exist fires once at the moment after the gap; where they are set back, one that exists
    /// twice fires once, at the first. A pattern that fires in every hour (`*/10 * * * *`) goes by the time that passes.
    pub fn cron(pattern: impl Into<String>) -> Self {
        let recurrence = Recurrence::Cron { pattern: pattern.into(), tz: None };
        Self { recurrence, tz: None, skip_missed: false, slot_field: None }
    }

    /// The IANA zone whose clocks a pattern reads: `Europe/Berlin`.
    pub fn tz(self, zone: impl Into<String>) -> Self {
        Self { tz: Some(zone.into()), ..self }
    }

    /// A missed slot, one that nobody fired for 2 s, is passed over. Otherwise the latest of those that were missed gets its
    /// instance, late.
    pub fn skip_missed(self) -> Self {
        Self { skip_missed: true, ..self }
    }

    /// The field of the step that each slot's instant goes to, a `jiff::Timestamp`; what the start gives there is replaced.
    pub fn slot_field(self, field: impl Into<String>) -> Self {
        Self { slot_field: Some(field.into()), ..self }
    }

    fn read(&self) -> Result<(Recurrence, Slots), Invalid> {
        let recurrence = match (&self.recurrence, &self.tz) {
            (Recurrence::Every(_), Some(_)) => {
                return Err(Invalid::new("tz", "belongs to `cron`: an interval has no time zone"));
            }
            (Recurrence::Every(span), None) => Recurrence::Every(*span),
            (Recurrence::Cron { pattern, .. }, tz) => Recurrence::Cron { pattern: pattern.clone(), tz: tz.clone() },
        };
        let slots = recurrence.read()?;
        Ok((recurrence, slots))
    }
}

impl Client {
    /// Starts an instance for each slot of a schedule, from the next one on: exactly one for each, over any number of workers
    /// and restarts. Slots are fired by workers that have the machine; a slot that came while none ran is caught up once, late
    /// ([`Schedule::skip_missed`] passes it over), and of several the latest.
    ///
    /// The start is described as for [`Client::start`] and kept: its step, data, carry, delay, queue and priority. Each slot makes
    /// its instance of it by the code that then runs; data of an older version of the machine is converted as its rows are.
    /// With [`Schedule::slot_field`] each has its own instant. If the step has a business key that the instance before still
    /// holds, the slot starts nothing.
    ///
    /// To call it again, at each boot for example, changes nothing but what is described differently: a slot is never fired
    /// twice, and one that has come still gets its instance. A schedule that is paused stays so.
    ///
    /// ```no_run
    /// # use gen_durable_runtime::{client::{Client, Schedule}, machine::{Startable}};
    /// # async fn run(client: Client, report: impl Startable) -> Result<(), gen_durable_runtime::Error> {
    /// client.schedule("report of tenant 7", Schedule::cron("0 9 * * mon").tz("Europe/Berlin"), report).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// A name that is none, a pattern that is unreadable or never comes, a zone that this machine does not know, a start that cannot be
    /// stored, a field that the step does not have: all before any SQL. Or the store's.
    pub async fn schedule<S: Startable>(
        &self,
        name: impl Into<String>,
        schedule: Schedule,
        start: S,
    ) -> Result<(), Error> {
        let name = name.into();
        limits::name("schedule name", &name)?;
        let (recurrence, slots) = schedule.read()?;
        let definition = defined(schedule, recurrence, start.into_spec()?);
        loads::<S::Machine>(&definition)?;
        for _ in 0..LOOKS {
            let Schedules { now, rows } = self.0.store.schedules(Some(std::slice::from_ref(&name))).await?;
            let (row, name) = (rows.first(), name.clone());
            let next = row.map_or_else(|| slots.after(now), |row| row.next_by(&definition.recurrence, &slots, now));
            let revision = row.map(|row| row.revision);
            let put = PutSchedule { name, definition: definition.clone(), next, revision };
            if self.0.store.put_schedule(&put).await? {
                self.0.notifier.wake(Said::schedules());
                return Ok(());
            }
        }
        Err(super::schedules::contended())
    }
}

fn defined(schedule: Schedule, recurrence: Recurrence, spec: StartSpec) -> ScheduleDefinition {
    ScheduleDefinition {
        machine: spec.machine.into(),
        version: spec.version,
        step: spec.entry.step.into(),
        recurrence,
        skip_missed: schedule.skip_missed,
        start: Some(ScheduledStart {
            state: spec.entry.state,
            carry: spec.carry,
            queue: spec.queue,
            priority: spec.priority,
            delay: spec.delay,
            slot_field: schedule.slot_field,
        }),
    }
}

/// The data of a slot is the step's: any moment must do in its field, and must be seen there.
fn loads<M: Machine>(definition: &ScheduleDefinition) -> Result<(), Invalid> {
    let Some(start) = &definition.start else { return Ok(()) };
    let Some(field) = &start.slot_field else { return Ok(()) };
    let has_field = start.state.decode::<std::collections::BTreeMap<String, serde::de::IgnoredAny>>("state");
    if !has_field?.contains_key(field) {
        return Err(Invalid::new("slot_field", "names no field of the step"));
    }
    let state = start.state_of(jiff::Timestamp::UNIX_EPOCH)?;
    let loaded = M::load(&definition.step, &state).map(drop);
    loaded
        .map_err(|_| Invalid::new("slot_field", "names a field that cannot hold an instant: it is a `jiff::Timestamp`"))
}
