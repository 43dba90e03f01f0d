//! What an operator sees of limits and queues, and pauses.

use std::collections::BTreeMap;

use super::{
    Postgres,
    admit::{config, kind},
    rows,
};
use crate::{
    Error,
    store::{
        KeyUse, LimitDef, QueueStanding, StoredLimit,
        shown::{COUNTED, COUNTERS, QueueLine, WALKED, standings, with_keys},
        written::timestamp,
    },
};

impl Postgres {
    pub(super) async fn limits_shown(&self, keys: u32) -> Result<Vec<StoredLimit>, Error> {
        let mut session = self.session("looking at limits").await?;
        let limits = session.rows(sqlx::query(self.statements().limits_shown()).bind(COUNTED)).await?;
        let query = sqlx::query(self.statements().limits_keys()).bind(i64::from(keys)).bind(COUNTERS).bind(COUNTED);
        let busiest = if keys == 0 { vec![] } else { session.rows(query).await? };
        session.end().await?;
        let limits = limits.iter().map(|row| {
            let ((kind, name), config) = config(row)?;
            let (by_operator, waiting) = (rows::get(row, "by_operator")?, counted(rows::get(row, "waiting")?));
            Ok(StoredLimit { def: LimitDef { kind, name, config }, by_operator, waiting, keys: vec![] })
        });
        let busiest = busiest.iter().map(|row| {
            let (key, used, owed) = (rows::get(row, "key")?, rows::get(row, "used")?, rows::get(row, "owed")?);
            let of = (kind(row)?, rows::get(row, "name")?);
            Ok((of, KeyUse { key, used, owed, waiting: counted(rows::get(row, "waiting")?) }))
        });
        Ok(with_keys(limits.collect::<Result<_, Error>>()?, busiest.collect::<Result<_, Error>>()?))
    }

    pub(super) async fn queues_shown(&self) -> Result<BTreeMap<String, QueueStanding>, Error> {
        let query = sqlx::query(self.statements().queues_shown()).bind(COUNTED).bind(WALKED);
        let found = self.ask("looking at queues", query).await?;
        let lines = found.iter().map(|row| {
            let at = rows::get::<Option<i64>>(row, "at_us")?.map(timestamp);
            let (what, queue) = (rows::get(row, "what")?, rows::get(row, "queue")?);
            Ok(QueueLine { what, queue, n: rows::get(row, "n")?, at, more: rows::get(row, "more")? })
        });
        Ok(standings(lines.collect::<Result<_, Error>>()?))
    }

    pub(super) async fn pause_or_resume(&self, queue: &str, pause: bool) -> Result<bool, Error> {
        let statements = self.statements();
        let statement = if pause { statements.queue_pause() } else { statements.queue_resume() };
        let mut session = self.session(if pause { "pausing a queue" } else { "resuming a queue" }).await?;
        let changed = session.rows(sqlx::query(statement).bind(queue)).await?;
        session.end().await?;
        Ok(!changed.is_empty())
    }

    pub(super) async fn read_paused(&self) -> Result<Vec<String>, Error> {
        let found = self.ask("looking for paused queues", sqlx::query(self.statements().queues_paused())).await?;
        found.iter().map(|row| rows::get(row, "queue")).collect()
    }
}

fn counted(n: i64) -> u64 {
    u64::try_from(n).unwrap_or(0)
}
