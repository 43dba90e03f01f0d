//! Outcomes: one statement for a plain batch; a short transaction when rows park or consume signals.

use std::collections::{HashMap, HashSet};

use sqlx::postgres::PgRow;

use super::{Postgres, columns::Columns, rows, session::Session};
use crate::{
    Error,
    model::{Committed, Transition},
    store::{
        fate::{self, Stand},
        written::empties_inbox,
    },
};

const OPERATION: &str = "committing";

/// The status of each row that was written, by its position in the batch.
type Changed = HashMap<usize, String>;

impl Postgres {
    pub(super) async fn commit_batch(&self, batch: &[Transition]) -> Result<Vec<Committed>, Error> {
        let mut columns = Columns::of(batch.iter().enumerate());
        let mut session = self.session(OPERATION).await?;
        if columns.parks || columns.touches_signals {
            session.begin().await?;
        }
        if columns.parks {
            // Only what is locked by now may park: the next statement's snapshot has its whole inbox.
            let held = self.hold(&mut session, &columns).await?;
            columns = Columns::of(batch.iter().enumerate().filter(|(at, _)| held.contains(at)));
        }
        let changed = self.write(&mut session, &columns).await?;
        if columns.touches_signals {
            self.consume(&mut session, batch, &changed).await?;
        }
        let missing = batch.iter().enumerate().filter(|(at, _)| !changed.contains_key(at));
        let missing: Vec<i64> = missing.map(|(_, t)| t.id.get()).collect();
        let standing = if missing.is_empty() { HashMap::new() } else { self.stand(&mut session, &missing).await? };
        session.end().await?;
        let answer = |(at, t): (usize, &Transition)| match changed.get(&at) {
            Some(status) => fate::written(status),
            None => standing.get(&t.id.get()).map_or(Committed::ClaimLost, |s| s.answer(t)),
        };
        Ok(batch.iter().enumerate().map(answer).collect())
    }

    /// Locks the rows; answers with the positions in the batch of those that are held.
    async fn hold(&self, session: &mut Session<'_>, columns: &Columns<'_>) -> Result<HashSet<usize>, Error> {
        let query = sqlx::query(self.statements().hold()).bind(&columns.ids);
        let rows = session.rows(query.bind(&columns.tokens).bind(&columns.transitions)).await?;
        rows.iter().map(|r| columns.position(rows::get(r, "ord")?)).collect()
    }

    /// Writes the batch; answers with the status of each row it changed, by its position in the batch: an instance
    /// that was reaped and claimed again may stand in it twice, and only one of its claims passes the fence.
    async fn write(&self, session: &mut Session<'_>, columns: &Columns<'_>) -> Result<Changed, Error> {
        if columns.ids.is_empty() {
            return Ok(Changed::new());
        }
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
        rows.iter().map(|r| Ok((columns.position(rows::get(r, "ord")?)?, rows::get(r, "status")?))).collect()
    }

    /// Only what changed consumes: a lost claim's signals stay.
    async fn consume(&self, session: &mut Session<'_>, batch: &[Transition], changed: &Changed) -> Result<(), Error> {
        let landed = || batch.iter().enumerate().filter(|(at, _)| changed.contains_key(at)).map(|(_, t)| t);
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
