//! Periodic maintenance, in bounded pieces.

use std::{collections::BTreeSet, time::Duration};

use sqlx::sqlite::SqliteRow;

use super::{Sqlite, rows, session::Survive, sql};
use crate::{
    Error,
    model::Transition,
    store::{Swept, displaced::displaced, written::micros},
};

impl Sqlite {
    pub(super) async fn end_due_waits(&self, limit: u32) -> Result<Swept, Error> {
        let mut session = self.writing("ending waits", Survive::Crash).await?;
        let now = self.now();
        let ended = session.rows(sqlx::query(sql::end_waits()).bind(i64::from(limit)).bind(now)).await?;
        let next = session.rows(sqlx::query(sql::end_waits_next()).bind(now)).await?;
        session.end().await?;
        let schedules = next.first().map(|r| rows::get(r, "schedules")).transpose()?.unwrap_or(false);
        let next = next.first().map(|r| rows::get::<Option<i64>>(r, "next_us")).transpose()?.flatten();
        let next = next.map(|us| Duration::from_micros(u64::try_from(us).unwrap_or(0)));
        Ok(Swept { next, schedules, ..swept(&ended)? })
    }

    pub(super) async fn reap_expired(&self, limit: u32) -> Result<Swept, Error> {
        // Judged as of before the line for the lock: whoever stood in it with us could not renew.
        let now = self.now();
        let mut session = self.writing("reaping", Survive::Crash).await?;
        let reaped = session.rows(sqlx::query(sql::reap()).bind(i64::from(limit)).bind(now)).await?;
        session.end().await?;
        self.taken_back(&reaped).await
    }

    pub(super) async fn reclaim_from(&self, owner: &str, limit: u32) -> Result<Swept, Error> {
        let mut session = self.writing("taking back claims", Survive::Crash).await?;
        let query = sqlx::query(sql::reclaim()).bind(i64::from(limit)).bind(self.now()).bind(format!("{owner}#"));
        let reclaimed = session.rows(query).await?;
        session.end().await?;
        self.taken_back(&reclaimed).await
    }

    /// Those whose business key was taken are not: they fail.
    async fn taken_back(&self, changed: &[SqliteRow]) -> Result<Swept, Error> {
        let mut swept = swept(changed)?;
        let displaced = changed.iter().filter_map(|r| displaced_row(r).transpose()).collect::<Result<Vec<_>, _>>()?;
        if !displaced.is_empty() {
            let wakes = self.commit_batch(&displaced).await?.wakes;
            swept.queues.extend(wakes.into_iter().filter(|queue| !swept.queues.contains(queue)).collect::<Vec<_>>());
        }
        Ok(swept)
    }

    pub(super) async fn forget_lines(&self, age: Duration, limit: u32) -> Result<usize, Error> {
        let mut session = self.writing("forgetting history", Survive::Crash).await?;
        let before = self.now().saturating_sub(micros(age));
        let gone = session.rows(sqlx::query(sql::forget()).bind(before).bind(i64::from(limit))).await?;
        session.end().await?;
        Ok(gone.len())
    }

    pub(super) async fn claim_owners(&self) -> Result<Vec<String>, Error> {
        let found = self.read("looking for owners of claims", sqlx::query(sql::owners())).await?;
        found.iter().map(|r| rows::get(r, "owner")).collect()
    }
}

fn swept(changed: &[SqliteRow]) -> Result<Swept, Error> {
    let queues = changed.iter().map(|r| rows::get(r, "queue")).collect::<Result<BTreeSet<String>, _>>()?;
    Ok(Swept { rows: changed.len(), queues: queues.into_iter().collect(), ..Swept::default() })
}

/// One whose business key was taken: it was not taken back.
fn displaced_row(row: &SqliteRow) -> Result<Option<Transition>, Error> {
    if !rows::get::<bool>(row, "key_taken")? {
        return Ok(None);
    }
    let token: Option<&str> = rows::get(row, "locked_by")?;
    let (id, transitions) = (rows::get(row, "id")?, rows::get(row, "transitions")?);
    Ok(Some(displaced(id, token.unwrap_or_default(), transitions, rows::parent(row)?)))
}
