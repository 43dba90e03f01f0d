//! Schedules: reading them, and moving one to its next slot beside the start of an instance.

use std::{collections::HashSet, time::Duration};

use jiff::Timestamp;
use sqlx::sqlite::SqliteRow;

use super::{
    Sqlite,
    encode::json,
    rows,
    session::{Session, Survive},
    sql,
};
use crate::{
    Error,
    model::{InstanceId, StartSpec, Started},
    store::{
        DueSchedules, Fired, Firing, LastFire, PutSchedule, ScheduleChange, ScheduleDefinition, ScheduledStart,
        Schedules, StoredSchedule,
        schedules::{recurrence, when},
        written::{micros, moment, timestamp},
    },
};

/// One row of schedules_move.sql.
type MoveRow<'a> = (&'a str, Option<i64>, Option<i64>, Option<i64>, Option<i64>, Option<i64>);

impl Sqlite {
    pub(super) async fn read_schedules(&self, names: Option<&[String]>) -> Result<Schedules, Error> {
        let now = timestamp(self.now());
        let query = match names {
            Some(names) => sqlx::query(sql::schedules_named()).bind(json(&names)?),
            None => sqlx::query(sql::schedules()),
        };
        let found = self.read("reading schedules", query).await?;
        Ok(Schedules { now, rows: found.iter().map(schedule).collect::<Result<_, _>>()? })
    }

    pub(super) async fn read_due_schedules(
        &self,
        machines: &[String],
        after: Option<(Timestamp, &str)>,
        limit: u32,
    ) -> Result<DueSchedules, Error> {
        const LOOKING: &str = "looking for due schedules";
        let (machines, now) = (json(&machines)?, self.now());
        let due = sqlx::query(sql::schedules_due()).bind(&machines).bind(now).bind(i64::from(limit));
        let due = due.bind(after.map(|(at, _)| moment(at))).bind(after.map(|(_, name)| name));
        let due = self.read(LOOKING, due).await?;
        let next = self.read(LOOKING, sqlx::query(sql::schedules_due_next()).bind(&machines).bind(now)).await?;
        let first = next.first().ok_or_else(|| rows::unreadable("some"))?;
        let until: Option<i64> = rows::get(first, "until_us")?;
        let next = until.map(|us| Duration::from_micros(u64::try_from(us).unwrap_or(0)));
        let found = due.iter().map(schedule).collect::<Result<_, _>>()?;
        Ok(DueSchedules { now: timestamp(now), rows: found, next, some: rows::get(first, "some")? })
    }

    /// Dropped or killed anywhere in here, nothing was moved and nothing started.
    pub(super) async fn fire_all(&self, firings: &[Firing]) -> Result<Vec<Fired>, Error> {
        let mut session = self.writing("firing schedules", Survive::PowerCut).await?;
        let held = hold(&mut session, firings).await?;
        let held: Vec<&Firing> = (1..).zip(firings).filter(|(ord, _)| held.contains(ord)).map(|(_, f)| f).collect();
        if held.is_empty() {
            return session.end().await.map(|()| vec![Fired::Lost; firings.len()]);
        }
        let specs: Vec<(&StartSpec, _)> =
            held.iter().filter_map(|f| f.fire.as_ref().map(|(_, spec)| (spec, None))).collect();
        let mut started = match specs.is_empty() {
            true => Vec::new(),
            false => self.start_on(&mut session, &specs).await?,
        }
        .into_iter();
        let moves: Vec<(&Firing, Option<Started>)> =
            held.into_iter().map(|f| (f, f.fire.as_ref().and_then(|_| started.next()))).collect();
        let rows: Vec<MoveRow<'_>> = moves.iter().map(|(f, started)| move_row(f, *started)).collect();
        session.rows(sqlx::query(sql::schedules_move()).bind(json(&rows)?).bind(self.now())).await?;
        session.end().await?;
        let became = |f: &Firing| match moves.iter().find(|(moved, _)| std::ptr::eq(*moved, f)) {
            Some((_, Some(started))) => Fired::Started(*started),
            Some((_, None)) => Fired::PassedOver,
            None => Fired::Lost,
        };
        Ok(firings.iter().map(became).collect())
    }

    pub(super) async fn put_one_schedule(&self, put: &PutSchedule) -> Result<bool, Error> {
        let (d, start) = (&put.definition, put.definition.start.as_ref());
        let (every_us, cron, tz) = when(&d.recurrence);
        let mut session = self.writing("writing a schedule", Survive::PowerCut).await?;
        let query = sqlx::query(sql::schedules_put())
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
            .bind(put.revision)
            .bind(self.now());
        let written = session.rows(query).await?;
        session.end().await?;
        Ok(!written.is_empty())
    }

    pub(super) async fn change_one_schedule(&self, change: &ScheduleChange) -> Result<bool, Error> {
        let mut session = self.writing("writing a schedule", Survive::PowerCut).await?;
        let query = sqlx::query(sql::schedules_change()).bind(&change.name).bind(change.revision).bind(change.paused);
        let query = query.bind(change.next.map(moment)).bind(change.error.as_deref()).bind(self.now());
        let written = session.rows(query).await?;
        session.end().await?;
        Ok(!written.is_empty())
    }

    pub(super) async fn remove_one_schedule(&self, name: &str, revision: i64) -> Result<bool, Error> {
        let mut session = self.writing("removing a schedule", Survive::PowerCut).await?;
        let written = session.rows(sqlx::query(sql::schedules_remove()).bind(name).bind(revision)).await?;
        session.end().await?;
        Ok(!written.is_empty())
    }

    pub(super) async fn know_some_schedules(&self, names: &[String]) -> Result<(), Error> {
        let mut session = self.writing("marking schedules", Survive::Crash).await?;
        session.rows(sqlx::query(sql::schedules_known()).bind(json(&names)?).bind(self.now())).await?;
        session.end().await
    }
}

async fn hold(session: &mut Session<'_>, firings: &[Firing]) -> Result<HashSet<i64>, Error> {
    let read: Vec<(&str, i64)> = firings.iter().map(|f| (f.name.as_str(), f.revision)).collect();
    let held = session.rows(sqlx::query(sql::schedules_hold()).bind(json(&read)?)).await?;
    held.iter().map(|r| rows::get(r, "ord")).collect()
}

fn move_row(f: &Firing, started: Option<Started>) -> MoveRow<'_> {
    let (id, new) = (started.map(|s| s.id().get()), started.map(|s| i64::from(s.is_new())));
    let slot = f.fire.as_ref().map(|(slot, _)| moment(*slot));
    (&f.name, f.next.map(moment), slot, id, new, f.missed.map(moment))
}

fn schedule(row: &SqliteRow) -> Result<StoredSchedule, Error> {
    let at = |column| -> Result<_, Error> { Ok(rows::get::<Option<i64>>(row, column)?.map(timestamp)) };
    Ok(StoredSchedule {
        name: rows::get(row, "name")?,
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

fn definition(row: &SqliteRow) -> Result<ScheduleDefinition, Error> {
    let (every_us, cron, tz) = (rows::get(row, "every_us")?, rows::get(row, "cron")?, rows::get(row, "tz")?);
    let start = match rows::get::<bool>(row, "code")? {
        true => None,
        false => Some(ScheduledStart {
            state: rows::json(row, "state")?,
            carry: rows::json_opt(row, "carry")?,
            queue: rows::get(row, "queue")?,
            priority: rows::get::<Option<i64>>(row, "priority")?.and_then(|p| i16::try_from(p).ok()),
            delay: Duration::from_micros(u64::try_from(rows::get::<i64>(row, "delay_us")?).unwrap_or(0)),
            slot_field: rows::get(row, "slot_field")?,
        }),
    };
    Ok(ScheduleDefinition {
        machine: rows::get(row, "fsm")?,
        version: rows::small(row, "fsm_version")?,
        step: rows::get(row, "step")?,
        recurrence: recurrence(every_us, cron, tz),
        skip_missed: rows::get(row, "skip_missed")?,
        start,
    })
}

fn last(
    row: &SqliteRow,
    slot: Option<jiff::Timestamp>,
    at: Option<jiff::Timestamp>,
) -> Result<Option<LastFire>, Error> {
    let (id, new) = (rows::get::<Option<i64>>(row, "last_id")?.map(InstanceId::new), rows::get(row, "last_new")?);
    let started = id.zip(new).map(|(id, new)| if new { Started::New(id) } else { Started::Duplicate(id) });
    let all = slot.zip(at).zip(started);
    Ok(all.map(|((slot, at), started)| LastFire { slot, at, started }))
}
