//! Periodic maintenance, in bounded pieces.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use sqlx::{AssertSqlSafe, postgres::PgRow};

use super::{Postgres, rows};
use crate::{
    Error,
    model::Transition,
    store::{Swept, displaced::displaced},
};

impl Postgres {
    pub(super) async fn sweep(
        &self,
        operation: &'static str,
        sql: AssertSqlSafe<Arc<str>>,
        owner: Option<&str>,
        limit: u32,
    ) -> Result<Swept, Error> {
        let mut session = self.session(operation).await?;
        let query = sqlx::query(sql);
        let query = match owner {
            Some(owner) => query.bind(format!("{owner}#")),
            None => query,
        };
        let rows = session.rows(query.bind(i64::from(limit))).await?;
        session.end().await?;
        let mut queues = rows.iter().map(|r| rows::get(r, "queue")).collect::<Result<BTreeSet<String>, _>>()?;
        let displaced = rows.iter().filter_map(|r| displaced_row(r).transpose()).collect::<Result<Vec<_>, _>>()?;
        if !displaced.is_empty() {
            // Whoever is held meanwhile comes back with the next sweep.
            queues.extend(self.commit_batch(&displaced).await?.wakes);
        }
        Ok(Swept { rows: rows.len(), queues: queues.into_iter().collect(), ..Swept::default() })
    }

    /// There is always a row: it carries the time of the next deadline.
    pub(super) async fn end_due_waits(&self, limit: u32) -> Result<Swept, Error> {
        let rows = self.ask("ending waits", sqlx::query(self.statements().end_waits()).bind(i64::from(limit))).await?;
        let queues = rows.iter().map(|r| rows::get(r, "queue")).collect::<Result<Vec<Option<String>>, _>>()?;
        let queues: Vec<String> = queues.into_iter().flatten().collect();
        let next_us = rows.first().map(|r| rows::get::<Option<i64>>(r, "next_us")).transpose()?.flatten();
        let next = next_us.map(|us| Duration::from_micros(u64::try_from(us).unwrap_or(0)));
        let schedules = rows.first().map(|r| rows::get(r, "schedules")).transpose()?.unwrap_or(false);
        let rows = queues.len();
        let queues: BTreeSet<String> = queues.into_iter().collect();
        Ok(Swept { rows, queues: queues.into_iter().collect(), next, schedules })
    }

    pub(super) async fn reap_expired(&self, limit: u32) -> Result<Swept, Error> {
        self.sweep("reaping", self.statements().reap(), None, limit).await
    }

    pub(super) async fn forget_lines(&self, age: Duration, limit: u32) -> Result<usize, Error> {
        let query = sqlx::query(self.statements().forget()).bind(rows::micros(age)).bind(i64::from(limit));
        let gone = self.ask("forgetting history", query).await?;
        Ok(gone.len())
    }

    pub(super) async fn claim_owners(&self) -> Result<Vec<String>, Error> {
        let rows = self.ask("looking for owners of claims", sqlx::query(self.statements().owners())).await?;
        rows.iter().map(|r| rows::get(r, "owner")).collect()
    }
}

/// One whose business key was taken: it was not taken back.
fn displaced_row(row: &PgRow) -> Result<Option<Transition>, Error> {
    if !rows::get::<bool>(row, "key_taken")? {
        return Ok(None);
    }
    let token: Option<&str> = rows::get(row, "locked_by")?;
    let (id, transitions) = (rows::get(row, "id")?, rows::get(row, "transitions")?);
    Ok(Some(displaced(id, token.unwrap_or_default(), transitions, rows::parent(row)?)))
}
