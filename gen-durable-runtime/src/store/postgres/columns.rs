//! A batch of outcomes as the columns of commit.sql.

use super::{commit::empties_inbox, rows};
use crate::{
    Error,
    model::{Advance, Change, Deadline, Transition},
};

/// A batch, column by column.
#[derive(Default)]
pub(super) struct Columns<'a> {
    positions: Vec<usize>,
    pub(super) ids: Vec<i64>,
    pub(super) tokens: Vec<&'a str>,
    pub(super) transitions: Vec<i64>,
    pub(super) kinds: Vec<i16>,
    pub(super) steps: Vec<Option<&'a str>>,
    pub(super) states: Vec<Option<&'a str>>,
    pub(super) carries: Vec<Option<&'a str>>,
    pub(super) results: Vec<Option<&'a str>>,
    pub(super) errors: Vec<Option<&'a str>>,
    pub(super) after_us: Vec<Option<i64>>,
    pub(super) at_us: Vec<Option<i64>>,
    pub(super) versions: Vec<Option<i32>>,
    pub(super) queues: Vec<Option<&'a str>>,
    pub(super) priorities: Vec<Option<i16>>,
    pub(super) concurrency_keys: Vec<Option<&'a str>>,
    pub(super) awaits: Vec<Option<String>>,
    pub(super) consumed: Vec<i64>,
    pub(super) parks: bool,
    pub(super) touches_signals: bool,
}

impl<'a> Columns<'a> {
    /// Each transition with its position in the batch.
    pub(super) fn of(batch: impl Iterator<Item = (usize, &'a Transition)>) -> Self {
        let mut columns = Self::default();
        for (at, t) in batch {
            columns.positions.push(at);
            columns.push(t);
        }
        columns
    }

    /// The position in the batch of a row that came back by its number here.
    pub(super) fn position(&self, ord: i64) -> Result<usize, Error> {
        let at = usize::try_from(ord - 1).ok().and_then(|at| self.positions.get(at));
        at.copied().ok_or_else(|| rows::unreadable("ord"))
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
