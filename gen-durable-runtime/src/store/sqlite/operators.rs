//! What an operator sees of limits and queues, and pauses.

use std::collections::BTreeMap;

use super::{
    Sqlite,
    admit::{config, kind},
    rows,
    session::Survive,
    sql,
};
use crate::{
    Error,
    store::{
        KeyUse, LimitDef, QueueStanding, StoredLimit,
        shown::{COUNTED, COUNTERS, QueueLine, WALKED, standings, with_keys},
        written::timestamp,
    },
};

impl Sqlite {
    pub(super) async fn limits_shown(&self, keys: u32) -> Result<Vec<StoredLimit>, Error> {
        const LOOKING: &str = "looking at limits";
        let limits = self.read(LOOKING, sqlx::query(sql::limits_shown()).bind(COUNTED)).await?;
        let query = sqlx::query(sql::limits_keys()).bind(i64::from(keys)).bind(COUNTERS).bind(COUNTED).bind(self.now());
        let busiest = if keys == 0 { vec![] } else { self.read(LOOKING, query).await? };
        let limits = limits.iter().map(|row| {
            let ((kind, name), config) = config(row)?;
            let (by_operator, waiting) = (rows::get(row, "by_operator")?, rows::small(row, "waiting")?);
            Ok(StoredLimit { def: LimitDef { kind, name, config }, by_operator, waiting, keys: vec![] })
        });
        let busiest = busiest.iter().map(|row| {
            let (key, used, owed) = (rows::get(row, "key")?, rows::get(row, "used")?, rows::get(row, "owed")?);
            let of = (kind(row)?, rows::get(row, "name")?);
            Ok((of, KeyUse { key, used, owed, waiting: rows::small(row, "waiting")? }))
        });
        Ok(with_keys(limits.collect::<Result<_, Error>>()?, busiest.collect::<Result<_, Error>>()?))
    }

    pub(super) async fn queues_shown(&self) -> Result<BTreeMap<String, QueueStanding>, Error> {
        let query = sqlx::query(sql::queues_shown()).bind(COUNTED).bind(WALKED).bind(self.now());
        let lines = self.read("looking at queues", query).await?;
        let lines = lines.iter().map(|row| {
            let at = rows::get::<Option<i64>>(row, "at")?.map(timestamp);
            let (what, queue) = (rows::get(row, "what")?, rows::get(row, "queue")?);
            Ok(QueueLine { what, queue, n: rows::get(row, "n")?, at, more: rows::get(row, "more")? })
        });
        Ok(standings(lines.collect::<Result<_, Error>>()?))
    }

    pub(super) async fn pause_or_resume(&self, queue: &str, pause: bool) -> Result<bool, Error> {
        let doing = if pause { "pausing a queue" } else { "resuming a queue" };
        let mut session = self.writing(doing, Survive::PowerCut).await?;
        let query = match pause {
            true => sqlx::query(sql::queue_pause()).bind(queue).bind(self.now()),
            false => sqlx::query(sql::queue_resume()).bind(queue),
        };
        let changed = session.rows(query).await?;
        session.end().await?;
        Ok(!changed.is_empty())
    }

    pub(super) async fn read_paused(&self) -> Result<Vec<String>, Error> {
        let found = self.read("looking for paused queues", sqlx::query(sql::queues_paused())).await?;
        found.iter().map(|row| rows::get(row, "queue")).collect()
    }
}
