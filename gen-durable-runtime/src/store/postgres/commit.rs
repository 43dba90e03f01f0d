//! Outcomes: one statement for a plain batch; a short transaction when rows park or consume signals.

use std::collections::{HashMap, HashSet};

use sqlx::postgres::PgRow;

use super::{Postgres, rows, session::Session};
use crate::{
    Error,
    model::{Advance, Change, Committed, Deadline, Transition},
};

const OPERATION: &str = "committing";

/// How a row stands that a statement did not return.
pub(super) struct Stand {
    pub(super) token: Option<String>,
    pub(super) transitions: i64,
    pub(super) executing: bool,
    attempt: u32,
    failed: bool,
}

impl Postgres {
    pub(super) async fn commit_batch(&self, batch: &[Transition]) -> Result<Vec<Committed>, Error> {
        self.commit_on(batch, false).await
    }

    /// Takes the row's lock first and waits for it, up to the time a call may take.
    pub(super) async fn commit_one(&self, transition: &Transition) -> Result<Committed, Error> {
        let answers = self.commit_on(std::slice::from_ref(transition), true).await?;
        Ok(answers.first().copied().unwrap_or(Committed::ClaimLost))
    }

    async fn commit_on(&self, batch: &[Transition], wait: bool) -> Result<Vec<Committed>, Error> {
        let columns = Columns::of(batch);
        let mut session = self.session(OPERATION).await?;
        if wait || columns.parks || columns.touches_signals {
            session.begin().await?;
        }
        if wait {
            session.rows(sqlx::query(self.statements().hold_alone()).bind(columns.ids.first())).await?;
        } else if columns.parks {
            let hold = sqlx::query(self.statements().hold()).bind(&columns.ids);
            session.rows(hold.bind(&columns.tokens).bind(&columns.transitions)).await?;
        }
        let changed = self.write(&mut session, &columns).await?;
        if columns.touches_signals {
            self.consume(&mut session, batch, &changed).await?;
        }
        let missing: Vec<i64> = columns.ids.iter().copied().filter(|id| !changed.contains_key(id)).collect();
        let standing = if missing.is_empty() { HashMap::new() } else { self.stand(&mut session, &missing).await? };
        session.end().await?;
        Ok(batch.iter().map(|t| answer(t, &changed, &standing)).collect())
    }

    /// Writes the batch; answers with the status of each row it changed.
    async fn write(&self, session: &mut Session<'_>, columns: &Columns<'_>) -> Result<HashMap<i64, String>, Error> {
        let query = sqlx::query(self.statements().commit())
            .bind(&columns.ids)
            .bind(&columns.tokens)
            .bind(&columns.transitions)
            .bind(&columns.kinds)
            .bind(&columns.steps)
            .bind(&columns.states)
            .bind(&columns.carries)
            .bind(&columns.results)
            .bind(&columns.errors)
            .bind(&columns.after_us)
            .bind(&columns.at_us)
            .bind(&columns.versions)
            .bind(&columns.queues)
            .bind(&columns.priorities)
            .bind(&columns.concurrency_keys)
            .bind(&columns.awaits)
            .bind(&columns.consumed);
        let rows = session.rows(query).await?;
        rows.iter().map(|r| Ok((rows::get(r, "id")?, rows::get(r, "status")?))).collect()
    }

    /// Only what changed consumes: a lost claim's signals stay.
    async fn consume(
        &self,
        session: &mut Session<'_>,
        batch: &[Transition],
        changed: &HashMap<i64, String>,
    ) -> Result<(), Error> {
        let landed = || batch.iter().filter(|t| changed.contains_key(&t.id.get()));
        let signals: Vec<i64> = landed().flat_map(|t| t.consumed.iter().copied()).collect();
        let ended: Vec<i64> = landed().filter(|t| empties_inbox(t)).map(|t| t.id.get()).collect();
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
            Ok((rows::get(r, "id")?, Stand { token, transitions, executing, attempt, failed }))
        };
        rows.iter().map(read).collect()
    }
}

fn answer(t: &Transition, changed: &HashMap<i64, String>, standing: &HashMap<i64, Stand>) -> Committed {
    match changed.get(&t.id.get()).map(String::as_str) {
        Some("executing") => Committed::Kept,
        Some("awaiting_signal") => Committed::Parked,
        Some(_) => Committed::Done,
        None => standing.get(&t.id.get()).map_or(Committed::ClaimLost, |s| s.answer(t)),
    }
}

impl Stand {
    /// Our token with one transition more: an earlier attempt landed, its answer was lost.
    fn answer(&self, t: &Transition) -> Committed {
        let ours = self.token.as_deref() == Some(t.token.as_str());
        let moved = self.transitions == t.transitions + 1;
        match (&t.change, ours, moved, self.executing) {
            (Change::Advance(a), true, true, true) if a.in_place => Committed::Kept,
            (_, true, true, _) => Committed::Done,
            (Change::Fail { .. }, true, false, false) if self.failed => Committed::Done,
            (Change::Retry { .. }, true, false, false) if self.attempt == t.attempt + 1 => Committed::Done,
            // Given back, or taken back: either way it stands as asked.
            (Change::Release | Change::Repark, true, false, false) => Committed::Done,
            (_, true, false, true) => Committed::Busy,
            _ => Committed::ClaimLost,
        }
    }
}

fn empties_inbox(t: &Transition) -> bool {
    match &t.change {
        Change::Done { .. } => t.may_have_signals,
        Change::Advance(_) | Change::Retry { .. } | Change::Fail { .. } | Change::Repark | Change::Release => false,
    }
}

/// A batch, column by column.
#[derive(Default)]
struct Columns<'a> {
    ids: Vec<i64>,
    tokens: Vec<&'a str>,
    transitions: Vec<i64>,
    kinds: Vec<i16>,
    steps: Vec<Option<&'a str>>,
    states: Vec<Option<&'a str>>,
    carries: Vec<Option<&'a str>>,
    results: Vec<Option<&'a str>>,
    errors: Vec<Option<&'a str>>,
    after_us: Vec<Option<i64>>,
    at_us: Vec<Option<i64>>,
    versions: Vec<Option<i32>>,
    queues: Vec<Option<&'a str>>,
    priorities: Vec<Option<i16>>,
    concurrency_keys: Vec<Option<&'a str>>,
    awaits: Vec<Option<String>>,
    consumed: Vec<i64>,
    parks: bool,
    touches_signals: bool,
}

impl<'a> Columns<'a> {
    fn of(batch: &'a [Transition]) -> Self {
        // Two changes of one row cannot share a statement; the committer never sends them.
        debug_assert_eq!(batch.iter().map(|t| t.id).collect::<HashSet<_>>().len(), batch.len());
        let mut columns = Self::default();
        for t in batch {
            columns.push(t);
        }
        columns
    }

    fn push(&mut self, t: &'a Transition) {
        self.ids.push(t.id.get());
        self.tokens.push(t.token.as_str());
        self.transitions.push(t.transitions);
        self.consumed.extend(&t.consumed);
        self.touches_signals |= !t.consumed.is_empty() || empties_inbox(t);
        let mut row = Row::default();
        match &t.change {
            Change::Advance(a) => row = Row::advance(a),
            Change::Retry { after, error } => {
                (row.kind, row.after_us, row.error) = (3, Some(rows::micros(*after)), error.as_deref());
            }
            Change::Done { result, carry } => {
                (row.kind, row.result) = (4, Some(result.as_str()));
                row.carry = carry.as_ref().map(|c| c.as_str());
            }
            Change::Fail { reason, carry } => {
                (row.kind, row.error) = (5, Some(reason.as_str()));
                row.carry = carry.as_ref().map(|c| c.as_str());
            }
            Change::Repark => row.kind = 6,
            Change::Release => row.kind = 7,
        }
        self.parks |= matches!(row.kind, 2 | 6);
        self.push_row(row);
    }

    fn push_row(&mut self, row: Row<'a>) {
        self.kinds.push(row.kind);
        self.steps.push(row.step);
        self.states.push(row.state);
        self.carries.push(row.carry);
        self.results.push(row.result);
        self.errors.push(row.error);
        self.after_us.push(row.after_us);
        self.at_us.push(row.at_us);
        self.versions.push(row.version);
        self.queues.push(row.queue);
        self.priorities.push(row.priority);
        self.concurrency_keys.push(row.concurrency_key);
        self.awaits.push(row.awaits);
    }
}

#[derive(Default)]
struct Row<'a> {
    kind: i16,
    step: Option<&'a str>,
    state: Option<&'a str>,
    carry: Option<&'a str>,
    result: Option<&'a str>,
    error: Option<&'a str>,
    after_us: Option<i64>,
    at_us: Option<i64>,
    version: Option<i32>,
    queue: Option<&'a str>,
    priority: Option<i16>,
    concurrency_key: Option<&'a str>,
    awaits: Option<String>,
}

impl<'a> Row<'a> {
    fn advance(a: &'a Advance) -> Self {
        let entry = &a.entry;
        let (deadline, kind) = match (&entry.wait, entry.timer) {
            (Some(wait), _) => (wait.deadline, 2),
            (None, timer) => (timer, i16::from(!a.in_place)),
        };
        let (after_us, at_us) = match deadline {
            Some(Deadline::After(after)) => (Some(rows::micros(after)), None),
            Some(Deadline::At(at)) => (None, Some(rows::moment(at))),
            None if kind == 1 => (Some(rows::micros(a.delay)), None),
            None => (None, None),
        };
        Self {
            kind,
            step: Some(entry.step),
            state: Some(entry.state.as_str()),
            carry: a.carry.as_ref().map(|c| c.as_str()),
            result: None,
            error: a.error.as_deref(),
            after_us,
            at_us,
            version: Some(a.version),
            // In place nothing that an index holds is written.
            queue: (kind != 0).then_some(a.queue.as_str()),
            priority: (kind != 0).then_some(a.priority),
            concurrency_key: entry.concurrency.as_ref().map(|slot| slot.key.as_str()),
            awaits: entry.wait.as_ref().map(|w| rows::text_array(&w.names)),
        }
    }
}
