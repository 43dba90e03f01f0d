//! A batch of outcomes as the columns of commit.sql.

use std::collections::HashMap;

use super::rows;
use crate::{
    Error,
    model::{Transition, Wait},
    store::written::{Written, await_mode, exit_signals, moment, outcome},
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
    pub(super) await_modes: Vec<Option<i16>>,
    pub(super) await_needs: Vec<Option<i32>>,
    pub(super) await_groups: Vec<Option<String>>,
    pub(super) children: Vec<i32>,
    pub(super) quorums: Vec<Option<i32>>,
    pub(super) started_us: Vec<Option<i64>>,
    pub(super) outcomes: Vec<&'static str>,
    pub(super) cancels: Vec<bool>,
    pub(super) shielded: Vec<bool>,
    pub(super) expires: Vec<bool>,
    pub(super) takes_deadline: Vec<bool>,
    pub(super) rates: Vec<Option<&'a str>>,
    pub(super) weights: Vec<Option<f64>>,
    pub(super) exit_signals: Vec<Option<String>>,
    pub(super) consumed: Vec<i64>,
}

impl<'a> Columns<'a> {
    /// Each transition with its position in the batch.
    pub(super) fn of(batch: impl Iterator<Item = (usize, &'a Transition)>, inserted: &HashMap<usize, i32>) -> Self {
        let mut columns = Self::default();
        for (at, t) in batch {
            columns.positions.push(at);
            columns.children.push(inserted.get(&at).copied().unwrap_or(0));
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
        let row = Written::of(t);
        self.started_us.push(t.started.map(moment));
        self.outcomes.push(outcome(row.kind));
        self.cancels.push(t.cancels);
        self.expires.push(t.exits.expires);
        self.takes_deadline.push(t.expires);
        self.exit_signals.push(exit_signals(&t.exits).map(rows::text_array));
        self.shielded.push(row.shielded);
        self.push_row(row);
    }

    fn push_row(&mut self, row: Written<'a>) {
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
        self.rates.push(row.rate.map(|rate| rate.key.as_str()));
        self.weights.push(row.rate.map(|rate| rate.weight));
        self.awaits.push(row.wait.map(|w| rows::text_array(&w.names)));
        self.await_modes.push(row.wait.and_then(await_mode));
        self.await_needs.push(row.wait.map(Wait::need));
        self.await_groups.push(row.wait.map(|w| rows::number_array(&w.groups)));
        self.quorums.push(row.quorum);
    }
}
