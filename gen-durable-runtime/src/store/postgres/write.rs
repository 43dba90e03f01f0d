//! Writes a batch of outcomes: the commonest ones by a statement of few columns, the others by that of all.

use std::collections::{HashMap, HashSet};

use sqlx::{
    Postgres as Pg,
    postgres::{PgArguments, PgRow},
    query::Query,
};

use super::{Postgres, columns::Columns, effects::Others, rows, session::Session};
use crate::{
    Error,
    model::Transition,
    store::written::{goes_apart, is_plain},
};

/// The status of each row that was written, by its position in the batch.
pub(super) type Changed = HashMap<usize, String>;

/// What of a batch was written.
#[derive(Default)]
pub(super) struct Landed {
    pub(super) changed: Changed,
    /// Children that were marked as counted.
    pub(super) marked: HashSet<usize>,
}

/// Transitions, each with its position in the batch.
type Placed<'a> = Vec<(usize, &'a Transition)>;

impl Postgres {
    /// Writes the batch; answers with the status of each row it changed, by its position in the batch: an instance
    /// that was reaped and claimed again may stand in it twice, and only one of its claims passes the fence.
    pub(super) async fn write(
        &self,
        session: &mut Session<'_>,
        batch: Placed<'_>,
        inserted: &HashMap<usize, i32>,
        held: &Others,
    ) -> Result<Landed, Error> {
        let is_apart = goes_apart(batch.iter().map(|(_, t)| *t));
        let (plain, others): (Placed<'_>, Placed<'_>) = batch.into_iter().partition(|(_, t)| is_apart && is_plain(t));
        if !plain.is_empty() && !others.is_empty() {
            session.begin().await?;
        }
        let mut landed = Landed::default();
        if !plain.is_empty() {
            let waited_for: Vec<Option<bool>> = plain.iter().map(|(_, t)| held.wait_for(t).then_some(true)).collect();
            let columns = Columns::of(plain.into_iter(), inserted);
            let found = session.rows(self.plain(&columns, &waited_for)).await?;
            landed.read(&columns, &found)?;
        }
        if !others.is_empty() {
            let columns = Columns::of(others.into_iter(), inserted);
            let found = session.rows(self.whole(&columns)).await?;
            landed.read(&columns, &found)?;
        }
        Ok(landed)
    }

    fn plain<'q>(&self, columns: &'q Columns<'_>, waited_for: &'q [Option<bool>]) -> Query<'q, Pg, PgArguments> {
        sqlx::query(self.statements().commit_plain())
            .bind(&columns.ids)
            .bind(&columns.tokens)
            .bind(&columns.transitions)
            .bind(&columns.kinds)
            .bind(rows::column(&columns.steps))
            .bind(rows::column(&columns.states))
            .bind(rows::column(&columns.carries))
            .bind(rows::column(&columns.results))
            .bind(rows::column(&columns.after_us))
            .bind(rows::column(&columns.versions))
            .bind(rows::column(&columns.queues))
            .bind(rows::column(&columns.priorities))
            .bind(rows::column(&columns.concurrency_keys))
            .bind(rows::column(&columns.rates))
            .bind(rows::column(&columns.weights))
            .bind(rows::column(&columns.started_us))
            .bind(rows::column(waited_for))
    }

    fn whole<'q>(&self, columns: &'q Columns<'_>) -> Query<'q, Pg, PgArguments> {
        sqlx::query(self.statements().commit())
            .bind(&columns.ids)
            .bind(&columns.tokens)
            .bind(&columns.transitions)
            .bind(&columns.kinds)
            .bind(rows::column(&columns.steps))
            .bind(rows::column(&columns.states))
            .bind(rows::column(&columns.carries))
            .bind(rows::column(&columns.results))
            .bind(rows::column(&columns.errors))
            .bind(rows::column(&columns.after_us))
            .bind(rows::column(&columns.at_us))
            .bind(rows::column(&columns.versions))
            .bind(rows::column(&columns.queues))
            .bind(rows::column(&columns.priorities))
            .bind(rows::column(&columns.concurrency_keys))
            .bind(rows::column(&columns.awaits))
            .bind(&columns.consumed)
            .bind(rows::column(&columns.await_modes))
            .bind(rows::column(&columns.await_needs))
            .bind(rows::column(&columns.await_groups))
            .bind(&columns.children)
            .bind(rows::column(&columns.quorums))
            .bind(rows::column(&columns.started_us))
            .bind(&columns.outcomes)
            .bind(&columns.cancels)
            .bind(&columns.shielded)
            .bind(&columns.expires)
            .bind(rows::column(&columns.exit_signals))
            .bind(&columns.takes_deadline)
            .bind(rows::column(&columns.rates))
            .bind(rows::column(&columns.weights))
    }
}

impl Landed {
    fn read(&mut self, columns: &Columns<'_>, found: &[PgRow]) -> Result<(), Error> {
        let row = found.first().ok_or_else(|| rows::unreadable("ords"))?;
        let ords: Vec<i64> = rows::get::<Option<_>>(row, "ords")?.unwrap_or_default();
        let statuses: Vec<String> = rows::get::<Option<_>>(row, "statuses")?.unwrap_or_default();
        let marks: Vec<bool> = rows::get::<Option<_>>(row, "marks")?.unwrap_or_default();
        let marks = marks.into_iter().chain(std::iter::repeat(false));
        for ((ord, status), marked) in ords.into_iter().zip(statuses).zip(marks) {
            let at = columns.position(ord)?;
            self.changed.insert(at, status);
            self.marked.extend(marked.then_some(at));
        }
        Ok(())
    }
}
