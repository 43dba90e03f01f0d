//! Schedules: reading them, and moving one to its next slot beside the start of an instance.

use std::{collections::HashSet, time::Duration};

use jiff::Timestamp;
use sqlx::postgres::PgRow;

use super::{
    Postgres, error, rows,
    rows::{micros, timestamp, unreadable},
    session::Session,
};
use crate::{
    Error,
    model::{InstanceId, StartSpec, Started},
    store::{
        DueSchedules, Fired, Firing, LastFire, PutSchedule, ScheduleChange, ScheduleDefinition, ScheduledStart,
        Schedules, StoredSchedule,
        schedules::{recurrence, when},
        written::moment,
    },
};

const FIRING: &str = "firing schedules";

impl Postgres {
    pub(super) async fn read_schedules(&self, names: Option<&[String]>) -> Result<Schedules, Error> {
        let query = match names {
            Some(names) => sqlx::query(self.statements().schedules_named()).bind(names),
            None => sqlx::query(self.statements().schedules()),
        };
        let found = self.ask("reading schedules", query).await?;
        Ok(Schedules { now: now(&found)?, rows: schedules(&found)? })
    }

    pub(super) async fn read_due_schedules(
        &self,
        machines: &[String],
        after: Option<(Timestamp, &str)>,
        limit: u32,
    ) -> Result<DueSchedules, Error> {
        let query = sqlx::query(self.statements().schedules_due()).bind(machines).bind(i64::from(limit));
        let query = query.bind(after.map(|(at, _)| moment(at))).bind(after.map(|(_, name)| name));
        let found = self.ask("looking for due schedules", query).await?;
        let first = found.first().ok_or_else(|| unreadable("now_us"))?;
        let until: Option<i64> = rows::get(first, "until_us")?;
        let next = until.map(|us| Duration::from_micros(u64::try_from(us).unwrap_or(0)));
        Ok(DueSchedules { now: now(&found)?, rows: schedules(&found)?, next, some: rows::get(first, "some")? })
    }

    /// Dropped or killed anywhere in here, nothing was moved and nothing started.
    pub(super) async fn fire_all(&self, firings: &[Firing]) -> Result<Vec<Fired>, Error> {
        let mut session = self.session(FIRING).await?;
        session.begin().await?;
        if session.is_pooled() && firings.iter().any(takes_a_key) {
            session.rows(sqlx::query(self.statements().hold_briefly())).await?;
        }
        match self.fire_on(&mut session, firings).await {
            Ok(fired) => session.end().await.map(|()| fired),
            Err(error) if error::is_lock_timeout(&error) => session.roll_back().await.and(Err(error)),
            Err(error) => Err(error),
        }
    }

    async fn fire_on(&self, session: &mut Session<'_>, firings: &[Firing]) -> Result<Vec<Fired>, Error> {
        let held = self.hold_schedules(session, firings).await?;
        let held: Vec<&Firing> = (1..).zip(firings).filter(|(ord, _)| held.contains(ord)).map(|(_, f)| f).collect();
        if held.is_empty() {
            return Ok(vec![Fired::Lost; firings.len()]);
        }
        let specs: Vec<&StartSpec> = held.iter().filter_map(|f| f.fire.as_ref().map(|(_, spec)| spec)).collect();
        let mut started = match specs.is_empty() {
            true => Vec::new(),
            false => self.start_with(session, &specs, &[]).await?,
        }
        .into_iter();
        let moves: Vec<(&Firing, Option<Started>)> =
            held.into_iter().map(|f| (f, f.fire.as_ref().and_then(|_| started.next()))).collect();
        self.move_schedules(session, &moves).await?;
        let became = |f: &Firing| match moves.iter().find(|(moved, _)| std::ptr::eq(*moved, f)) {
            Some((_, Some(started))) => Fired::Started(*started),
            Some((_, None)) => Fired::PassedOver,
            None => Fired::Lost,
        };
        Ok(firings.iter().map(became).collect())
    }

    async fn hold_schedules(&self, session: &mut Session<'_>, firings: &[Firing]) -> Result<HashSet<i64>, Error> {
        let names: Vec<&str> = firings.iter().map(|f| f.name.as_str()).collect();
        let revisions: Vec<i64> = firings.iter().map(|f| f.revision).collect();
        let query = sqlx::query(self.statements().schedules_hold()).bind(&names).bind(&revisions);
        session.rows(query).await?.iter().map(|r| rows::get(r, "ord")).collect()
    }

    async fn move_schedules(
        &self,
        session: &mut Session<'_>,
        moves: &[(&Firing, Option<Started>)],
    ) -> Result<(), Error> {
        let column = |of: fn(&Firing) -> Option<i64>| moves.iter().map(|(f, _)| of(f)).collect::<Vec<_>>();
        let names: Vec<&str> = moves.iter().map(|(f, _)| f.name.as_str()).collect();
        let ids: Vec<Option<i64>> = moves.iter().map(|(_, s)| s.map(|s| s.id().get())).collect();
        let new: Vec<Option<bool>> = moves.iter().map(|(_, s)| s.map(Started::is_new)).collect();
        let query = sqlx::query(self.statements().schedules_move())
            .bind(&names)
            .bind(column(|f| f.next.map(moment)))
            .bind(column(|f| f.fire.as_ref().map(|(slot, _)| moment(*slot))))
            .bind(&ids)
            .bind(&new)
            .bind(column(|f| f.missed.map(moment)));
        session.rows(query).await.map(drop)
    }

    pub(super) async fn put_one_schedule(&self, put: &PutSchedule) -> Result<bool, Error> {
        let (d, start) = (&put.definition, put.definition.start.as_ref());
        let (every_us, cron, tz) = when(&d.recurrence);
        let query = sqlx::query(self.statements().schedules_put())
            .bind(&put.name)
            .bind(start.is_none())
            .bind(&d.machine)
            .bind(d.version)
            .bind(&d.step)
            .bind(every_us)
            .bind(cron)
            .bind(tz)
            .bind(d.skip_missed)
            .bind(start.map(|s| s.state.as_str()))
            .bind(start.and_then(|s| s.carry.as_ref()).map(|c| c.as_str()))
            .bind(start.and_then(|s| s.queue.as_deref()))
            .bind(start.and_then(|s| s.priority))
            .bind(start.map_or(0, |s| micros(s.delay)))
            .bind(start.and_then(|s| s.slot_field.as_deref()))
            .bind(put.next.map(moment))
            .bind(put.revision);
        self.wrote("writing a schedule", query).await
    }

    pub(super) async fn change_one_schedule(&self, change: &ScheduleChange) -> Result<bool, Error> {
        let query = sqlx::query(self.statements().schedules_change()).bind(&change.name).bind(change.revision);
        let query = query.bind(change.paused).bind(change.next.map(moment)).bind(change.error.as_deref());
        self.wrote("writing a schedule", query).await
    }

    pub(super) async fn remove_one_schedule(&self, name: &str, revision: i64) -> Result<bool, Error> {
        self.wrote("removing a schedule", sqlx::query(self.statements().schedules_remove()).bind(name).bind(revision))
            .await
    }

    pub(super) async fn know_some_schedules(&self, names: &[String]) -> Result<(), Error> {
        self.wrote("marking schedules", sqlx::query(self.statements().schedules_known()).bind(names)).await.map(drop)
    }

    async fn wrote(
        &self,
        operation: &'static str,
        query: sqlx::query::Query<'_, sqlx::Postgres, sqlx::postgres::PgArguments>,
    ) -> Result<bool, Error> {
        let mut session = self.session(operation).await?;
        let written = session.rows(query).await?;
        session.end().await?;
        Ok(!written.is_empty())
    }
}

/// A business key that someone else is inserting is waited for, for 20 ms.
fn takes_a_key(firing: &Firing) -> bool {
    firing.fire.as_ref().is_some_and(|(_, spec)| spec.key.is_some())
}

fn now(found: &[PgRow]) -> Result<jiff::Timestamp, Error> {
    let first = found.first().ok_or_else(|| unreadable("now_us"))?;
    rows::get(first, "now_us").map(timestamp)
}

/// The row that is always there has no name when it stands alone.
fn schedules(found: &[PgRow]) -> Result<Vec<StoredSchedule>, Error> {
    let read = |row: &PgRow| -> Result<Option<StoredSchedule>, Error> {
        rows::get::<Option<String>>(row, "name")?.map(|name| schedule(row, name)).transpose()
    };
    found.iter().filter_map(|row| read(row).transpose()).collect()
}

fn schedule(row: &PgRow, name: String) -> Result<StoredSchedule, Error> {
    let at = |column| -> Result<_, Error> { Ok(rows::get::<Option<i64>>(row, column)?.map(timestamp)) };
    Ok(StoredSchedule {
        name,
        definition: definition(row)?,
        revision: rows::get(row, "revision")?,
        next: at("next_us")?,
        paused: at("paused_us")?,
        known: at("known_us")?,
        last: last(row, at("last_us")?, at("fired_us")?)?,
        missed: at("missed_us")?,
        error: rows::get(row, "last_error")?,
    })
}

fn definition(row: &PgRow) -> Result<ScheduleDefinition, Error> {
    let (every_us, cron, tz) = (rows::get(row, "every_us")?, rows::get(row, "cron")?, rows::get(row, "tz")?);
    let start = match rows::get::<bool>(row, "code")? {
        true => None,
        false => Some(ScheduledStart {
            state: rows::json(row, "state")?,
            carry: rows::json_opt(row, "carry")?,
            queue: rows::get(row, "queue")?,
            priority: rows::get(row, "priority")?,
            delay: Duration::from_micros(u64::try_from(rows::get::<i64>(row, "delay_us")?).unwrap_or(0)),
            slot_field: rows::get(row, "slot_field")?,
        }),
    };
    Ok(ScheduleDefinition {
        machine: rows::get(row, "fsm")?,
        version: rows::get(row, "fsm_version")?,
        step: rows::get(row, "step")?,
        recurrence: recurrence(every_us, cron, tz),
        skip_missed: rows::get(row, "skip_missed")?,
        start,
    })
}

fn last(row: &PgRow, slot: Option<jiff::Timestamp>, at: Option<jiff::Timestamp>) -> Result<Option<LastFire>, Error> {
    let (id, new) = (rows::get::<Option<i64>>(row, "last_id")?.map(InstanceId::new), rows::get(row, "last_new")?);
    let started = id.zip(new).map(|(id, new)| if new { Started::New(id) } else { Started::Duplicate(id) });
    let all = slot.zip(at).zip(started);
    Ok(all.map(|((slot, at), started)| LastFire { slot, at, started }))
}
