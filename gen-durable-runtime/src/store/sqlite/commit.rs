//! Outcomes: a batch is one transaction.

use std::collections::{BTreeSet, HashMap};

use sqlx::sqlite::SqliteRow;

use super::{
    Sqlite, admit, counters,
    effects::tell_parents,
    encode::{CommitRow, HistoryRow, PlainRow, json},
    rows,
    session::{Session, Survive},
    sql,
};
use crate::{
    Error,
    model::{Committed, Transition},
    store::{
        Commits,
        displaced::may_end,
        fate::{self, Stand},
        limiting,
        written::{empties_inbox, goes_apart, is_plain, moment},
    },
};

/// The status of each row that was written. An instance that was reaped and claimed again may stand in a batch
/// twice, and only one of its claims passes the fence.
type Changed = HashMap<(i64, String), String>;

impl Sqlite {
    pub(super) async fn commit_batch(&self, batch: &[Transition]) -> Result<Commits, Error> {
        let mut session = self.writing("committing", Survive::PowerCut).await?;
        let (now, mut wakes) = (self.now(), BTreeSet::new());
        let inserted = self.insert_effects(&mut session, batch, &mut wakes).await?;
        log(&mut session, batch, now).await?;
        let changed = write(&mut session, batch, &inserted, now).await?;
        let landed = |t: &Transition| changed.get(&(t.id.get(), t.token.as_str().to_owned()));
        let written: Vec<&Transition> = batch.iter().filter(|t| landed(t).is_some()).collect();
        consume(&mut session, &written, now).await?;
        self.send_effects(&mut session, &written, &mut wakes).await?;
        let has_ended = |t: &&&Transition| may_end(t) && landed(t).is_some_and(|status| fate::has_ended(status));
        let ended = written.iter().filter(|t| t.parent.is_some()).filter(has_ended).map(|t| t.id.get()).collect();
        tell_parents(&mut session, ended, now, &mut wakes).await?;
        let (mut keys, mut slots, mut ended) = (Vec::new(), Vec::new(), Vec::new());
        for (t, status) in batch.iter().filter_map(|t| Some((t, landed(t)?))) {
            if let Some((key, slot)) = limiting::released(t, status) {
                keys.push(key.to_owned());
                slots.extend(slot.map(|shard| (key.to_owned(), shard)));
            }
            ended.extend((t.may_hold && matches!(status.as_str(), "done" | "failed")).then_some(t.id.get()));
        }
        wakes.extend(counters::give_back(&mut session, keys, slots, &ended, now).await?);
        admit::charge(&mut session, &written, now).await?;
        let missing: Vec<i64> = batch.iter().filter(|t| landed(t).is_none()).map(|t| t.id.get()).collect();
        let standing = if missing.is_empty() { HashMap::new() } else { stand(&mut session, &missing).await? };
        session.end().await?;
        let answer = |t: &Transition| match landed(t) {
            Some(status) => fate::written(status),
            None => standing.get(&t.id.get()).map_or(Committed::ClaimLost, |s| s.answer(t)),
        };
        Ok(Commits { answers: batch.iter().map(answer).collect(), wakes, released: vec![] })
    }
}

/// Before the rows change: the line says where they stood.
async fn log(session: &mut Session<'_>, batch: &[Transition], now: i64) -> Result<(), Error> {
    let with = batch.iter().filter_map(|of| Some((of, of.started?)));
    let lines: Vec<HistoryRow<'_>> = with.map(|(of, at)| HistoryRow { of, started: moment(at) }).collect();
    if lines.is_empty() {
        return Ok(());
    }
    session.rows(sqlx::query(sql::commit_log()).bind(json(&lines)?).bind(now)).await.map(drop)
}

/// The commonest outcomes by a statement of their own, the others by that of all columns.
async fn write(
    session: &mut Session<'_>,
    batch: &[Transition],
    inserted: &HashMap<usize, i32>,
    now: i64,
) -> Result<Changed, Error> {
    let mut changed = Changed::new();
    let row = |(at, of)| CommitRow { of, children: inserted.get(&at).copied().unwrap_or(0) };
    let is_apart = goes_apart(batch);
    let plain: Vec<PlainRow<'_>> = batch.iter().filter(|t| is_apart && is_plain(t)).map(PlainRow).collect();
    if !plain.is_empty() {
        let query = sqlx::query(sql::commit_plain()).bind(json(&plain)?).bind(now);
        read(&session.rows(query).await?, &mut changed)?;
    }
    let others = batch.iter().enumerate().filter(|(_, t)| !(is_apart && is_plain(t)));
    let others: Vec<CommitRow<'_>> = others.map(row).collect();
    if !others.is_empty() {
        let consumed: Vec<i64> = batch.iter().flat_map(|t| t.consumed.iter().copied()).collect();
        let query = sqlx::query(sql::commit()).bind(json(&others)?).bind(now).bind(json(&consumed)?);
        read(&session.rows(query).await?, &mut changed)?;
    }
    Ok(changed)
}

fn read(found: &[SqliteRow], changed: &mut Changed) -> Result<(), Error> {
    for row in found {
        let (id, token, status): (i64, String, String) = rows::parsed(row, "written")?;
        changed.insert((id, token), status);
    }
    Ok(())
}

/// Only what was written consumes: a lost claim's signals stay.
async fn consume(session: &mut Session<'_>, written: &[&Transition], now: i64) -> Result<(), Error> {
    let signals: Vec<i64> = written.iter().flat_map(|t| t.consumed.iter().copied()).collect();
    let ended: Vec<i64> = written.iter().filter(|t| empties_inbox(t)).map(|t| t.id.get()).collect();
    if !signals.is_empty() {
        let signals = json(&signals)?;
        session.rows(sqlx::query(sql::consume_kept()).bind(&signals).bind(json(&ended)?).bind(now)).await?;
        session.rows(sqlx::query(sql::consume()).bind(signals)).await?;
    }
    if !ended.is_empty() {
        session.rows(sqlx::query(sql::consume_inbox()).bind(json(&ended)?)).await?;
    }
    Ok(())
}

async fn stand(session: &mut Session<'_>, ids: &[i64]) -> Result<HashMap<i64, Stand>, Error> {
    let found = session.rows(sqlx::query(sql::stand()).bind(json(&ids)?)).await?;
    let read = |r: &SqliteRow| -> Result<(i64, Stand), Error> {
        let status: &str = rows::get(r, "status")?;
        let (executing, failed) = (status == "executing", status == "failed");
        let (token, transitions) = (rows::get(r, "locked_by")?, rows::get(r, "transitions")?);
        let attempt = rows::small(r, "attempt")?;
        let cancelled = rows::get(r, "cancelled")?;
        Ok((rows::get(r, "id")?, Stand { token, transitions, attempt, executing, failed, cancelled }))
    };
    found.iter().map(read).collect()
}
