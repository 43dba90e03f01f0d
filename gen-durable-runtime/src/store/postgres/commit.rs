//! Outcomes: one statement for a plain batch; a short transaction when rows park or consume signals.

use std::collections::{BTreeSet, HashMap, HashSet};

use sqlx::postgres::PgRow;

use super::{
    Postgres,
    columns::Columns,
    effects::Others,
    error, rows,
    session::Session,
    write::{Changed, Landed},
};
use crate::{
    Error,
    model::{Change, Committed, Transition},
    store::{
        Commits,
        displaced::may_end,
        fate::{self, Stand},
        limiting,
        written::empties_inbox,
    },
};

const OPERATION: &str = "committing";

impl Postgres {
    /// Who starts an instance whose key someone else is inserting goes on alone, and waits for nobody: neither the
    /// batch nor the key of another.
    pub(super) async fn commit_batch(&self, batch: &[Transition]) -> Result<Commits, Error> {
        match self.commit_at_once(batch).await {
            Err(error) if waited_for_a_key(&error, batch) => self.commit_apart(batch).await,
            result => result,
        }
    }

    /// Those without keys in one piece, the others one by one. What landed before an error is told by its fence.
    async fn commit_apart(&self, batch: &[Transition]) -> Result<Commits, Error> {
        let (keyed, plain): (Vec<usize>, Vec<usize>) = (0..batch.len()).partition(|&at| takes_a_key(&batch[at]));
        let mut all = Commits { answers: vec![Committed::Busy; batch.len()], wakes: BTreeSet::new(), released: vec![] };
        for piece in std::iter::once(plain).chain(keyed.into_iter().map(|at| vec![at])).filter(|p| !p.is_empty()) {
            let transitions: Vec<Transition> = piece.iter().map(|&at| batch[at].clone()).collect();
            match self.commit_at_once(&transitions).await {
                Err(error) if waited_for_a_key(&error, &transitions) => {}
                Err(error) => return Err(error),
                Ok(commits) => {
                    piece.iter().zip(&commits.answers).for_each(|(&at, answer)| all.answers[at] = *answer);
                    all.wakes.extend(commits.wakes);
                    all.released.extend(commits.released);
                }
            }
        }
        Ok(all)
    }

    async fn commit_at_once(&self, batch: &[Transition]) -> Result<Commits, Error> {
        let mut session = self.session(OPERATION).await?;
        match self.commit_on(&mut session, batch).await {
            Ok(commits) => session.end().await.map(|()| commits),
            Err(error) if waited_for_a_key(&error, batch) => session.roll_back().await.and(Err(error)),
            Err(error) => Err(error),
        }
    }

    async fn commit_on(&self, session: &mut Session<'_>, batch: &[Transition]) -> Result<Commits, Error> {
        let (needs, others) = (Needs::of(batch), Others::of(batch));
        if needs.transaction || !others.is_empty() {
            session.begin().await?;
        }
        if session.is_pooled() && batch.iter().any(takes_a_key) {
            session.rows(sqlx::query(self.statements().hold_briefly())).await?;
        }
        let mut open: Vec<(usize, &Transition)> = batch.iter().enumerate().collect();
        if needs.hold {
            // Only what is locked by now may park or start others: the next statement's snapshot has its whole inbox.
            let held = self.hold(session, &open).await?;
            // A cancelled row starts nobody: its outcome is dropped.
            open.retain(|(at, t)| held.get(at).is_some_and(|cancelled| !cancelled || passes_a_cancel(t)));
        }
        let (mut busy, mut ours) = (HashSet::new(), Others::default());
        if !others.is_empty() {
            ours = self.hold_others(session, &others).await?;
            busy.extend(open.iter().filter(|(_, t)| !ours.serve(t)).map(|(at, _)| *at));
            open.retain(|(at, _)| !busy.contains(at));
        }
        for work in open.iter().filter_map(|(_, t)| t.effects.as_ref()).flat_map(|e| &e.work) {
            session.work(work).await?;
        }
        let mut wakes = BTreeSet::new();
        let inserted = self.insert_effects(session, &open, &mut wakes).await?;
        let Landed { changed, marked } = self.write(session, open, &inserted, &ours).await?;
        let landed = || batch.iter().enumerate().filter(|(at, _)| changed.contains_key(at));
        let written: Vec<&Transition> = landed().map(|(_, t)| t).collect();
        let ended = landed().filter(|(at, t)| t.parent.is_some() && may_end(t) && fate::has_ended(&changed[at]));
        let ended = ended.filter(|(at, _)| !marked.contains(at)).map(|(_, t)| t.id.get()).collect();
        let marked = marked.iter().map(|&at| batch[at].id.get()).collect();
        self.consume(session, &written).await?;
        self.send_effects(session, &written, &mut wakes).await?;
        self.tell_parents(session, ended, marked, &mut wakes).await?;
        let released = self.give_back(session, batch, &changed).await?;
        self.charge(session, &written).await?;
        let answers = self.answers(session, batch, &changed, &busy).await?;
        Ok(Commits { answers, wakes, released })
    }

    /// The keys that were given up, after their slots were.
    async fn give_back(
        &self,
        session: &mut Session<'_>,
        batch: &[Transition],
        changed: &Changed,
    ) -> Result<Vec<(String, u32)>, Error> {
        let written = batch.iter().enumerate().filter_map(|(at, t)| Some((t, changed.get(&at)?)));
        let (mut keys, mut slots) = (Vec::new(), Vec::new());
        for (key, slot) in written.clone().filter_map(|(t, status)| limiting::released(t, status)) {
            keys.push(key.to_owned());
            slots.extend(slot.map(|shard| (key.to_owned(), shard)));
        }
        let ended = written.filter(|(t, status)| t.may_hold && matches!(status.as_str(), "done" | "failed"));
        let kept = self.release_kept(session, &ended.map(|(t, _)| t.id.get()).collect::<Vec<_>>()).await?;
        keys.extend(kept.iter().map(|(key, _)| key.clone()));
        slots.extend(kept);
        self.credit(session, &slots).await?;
        Ok(limiting::counts(keys.iter().map(String::as_str)))
    }

    async fn answers(
        &self,
        session: &mut Session<'_>,
        batch: &[Transition],
        changed: &Changed,
        busy: &HashSet<usize>,
    ) -> Result<Vec<Committed>, Error> {
        let missing = batch.iter().enumerate().filter(|(at, _)| !changed.contains_key(at) && !busy.contains(at));
        let missing: Vec<i64> = missing.map(|(_, t)| t.id.get()).collect();
        let standing = if missing.is_empty() { HashMap::new() } else { self.stand(session, &missing).await? };
        let answer = |(at, t): (usize, &Transition)| match changed.get(&at) {
            Some(status) => fate::written(status),
            None if busy.contains(&at) => Committed::Busy,
            None => standing.get(&t.id.get()).map_or(Committed::ClaimLost, |s| s.answer(t)),
        };
        Ok(batch.iter().enumerate().map(answer).collect())
    }

    /// Locks the rows; answers with the positions in the batch of those that are held, and whether they are cancelled.
    async fn hold(
        &self,
        session: &mut Session<'_>,
        batch: &[(usize, &Transition)],
    ) -> Result<HashMap<usize, bool>, Error> {
        let columns = Columns::of(batch.iter().copied(), &HashMap::new());
        let query = sqlx::query(self.statements().hold()).bind(&columns.ids);
        let rows = session.rows(query.bind(&columns.tokens).bind(&columns.transitions)).await?;
        rows.iter().map(|r| Ok((columns.position(rows::get(r, "ord")?)?, rows::get(r, "cancelled")?))).collect()
    }

    /// Only what was written consumes: a lost claim's signals stay.
    async fn consume(&self, session: &mut Session<'_>, written: &[&Transition]) -> Result<(), Error> {
        let signals: Vec<i64> = written.iter().flat_map(|t| t.consumed.iter().copied()).collect();
        let ended: Vec<i64> = written.iter().filter(|t| empties_inbox(t)).map(|t| t.id.get()).collect();
        if signals.is_empty() && ended.is_empty() {
            return Ok(());
        }
        let consume = sqlx::query(self.statements().consume()).bind(&signals).bind(&ended);
        session.rows(consume).await.map(|_| ())
    }

    pub(super) async fn stand(&self, session: &mut Session<'_>, ids: &[i64]) -> Result<HashMap<i64, Stand>, Error> {
        let rows = session.rows(sqlx::query(self.statements().stand()).bind(ids)).await?;
        let read = |r: &PgRow| -> Result<(i64, Stand), Error> {
            let status: &str = rows::get(r, "status")?;
            let (executing, failed) = (status == "executing", status == "failed");
            let (token, transitions) = (rows::get(r, "locked_by")?, rows::get(r, "transitions")?);
            let attempt = rows::count(r, "attempt")?;
            let cancelled = rows::get(r, "cancelled")?;
            Ok((rows::get(r, "id")?, Stand { token, transitions, attempt, executing, failed, cancelled }))
        };
        rows.iter().map(read).collect()
    }
}

/// Whether it is written on a cancelled row: as in commit.sql, whatever else is in the batch.
fn passes_a_cancel(t: &Transition) -> bool {
    t.cancels || t.ends() || matches!(t.change, Change::Release)
}

/// Whether it starts an instance with a business key.
fn takes_a_key(t: &Transition) -> bool {
    t.effects.iter().flat_map(|e| e.children.iter().chain(&e.spawned)).any(|s| s.key.is_some())
}

/// Whether it was a key's turn that took too long: nothing else of such a batch waits.
fn waited_for_a_key(error: &Error, batch: &[Transition]) -> bool {
    error::is_lock_timeout(error) && batch.iter().any(takes_a_key)
}

/// Which statements a batch needs beside the one that writes it.
struct Needs {
    transaction: bool,
    /// Its rows are locked first.
    hold: bool,
}

impl Needs {
    fn of(batch: &[Transition]) -> Self {
        let parks = |t: &Transition| match &t.change {
            Change::Advance(a) => a.entry.wait.is_some(),
            Change::Repark => true,
            Change::Retry { .. } | Change::Done { .. } | Change::Fail { .. } | Change::Release => false,
        };
        // So does what a signal may leave: one that came while it ran is due at once.
        let hold = batch.iter().any(|t| parks(t) || t.effects.is_some() || !t.exits.signals.is_empty());
        let signals = batch.iter().any(|t| !t.consumed.is_empty() || empties_inbox(t));
        let slots = batch.iter().any(|t| t.held.as_ref().is_some_and(|h| h.slot.is_some()) || (t.may_hold && t.ends()));
        Self { transaction: hold || signals || slots, hold }
    }
}
