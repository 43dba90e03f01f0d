//! Limits and their counters, beside the claims: what frees a slot, what an operator says, what a crash left.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use sqlx::sqlite::SqliteRow;

use super::{
    Sqlite, admit,
    encode::json,
    rows,
    session::{Session, Survive},
    sql,
};
use crate::{
    Error,
    model::admission::{Bucket, LimitConfig, LimitKind},
    store::{
        LimitDef,
        limiting::{self, Saying, Standing, causes_of},
        written::timestamp,
    },
};

/// Keys whose counters are set at once.
const KEYS: u32 = 200;
/// Rows that are woken at once when a limit changed.
const ROWS: i64 = 1_000;

impl Sqlite {
    pub(super) async fn unblock_keys(&self, keys: &[(String, u32)]) -> Result<BTreeSet<String>, Error> {
        let mut session = self.writing("waking what was set aside", Survive::Crash).await?;
        let queues = unblock(&mut session, keys, self.now()).await?;
        session.end().await?;
        Ok(queues)
    }

    pub(super) async fn blocked_causes(&self, after: &str, limit: u32) -> Result<Vec<String>, Error> {
        let query = sqlx::query(sql::blocked()).bind(after).bind(i64::from(limit));
        let found = self.read("looking at what was set aside", query).await?;
        found.iter().map(|r| rows::get(r, "blocked_by")).collect()
    }

    pub(super) async fn define(&self, limits: &[LimitDef], saying: Saying) -> Result<BTreeSet<String>, Error> {
        let mut session = self.writing("making limits known", Survive::PowerCut).await?;
        let of = |l: &LimitDef| {
            let rate = Some(l.config.rate).filter(|rate| *rate > 0.0);
            (l.kind.as_str(), l.name.clone(), l.config.capacity, rate, l.config.shards)
        };
        let all = json(&limits.iter().map(of).collect::<Vec<_>>())?;
        let changed = {
            let query = sqlx::query(sql::define_limits()).bind(all);
            session.rows(query.bind(saying == Saying::Operator).bind(saying == Saying::Reset)).await?
        };
        let changed = changed.iter().map(|r| Ok((admit::kind(r)?, rows::get(r, "name")?)));
        let changed = changed.collect::<Result<Vec<(LimitKind, String)>, Error>>()?;
        for kind in [LimitKind::Gate, LimitKind::Rate] {
            let names: Vec<&str> = changed.iter().filter(|(k, _)| *k == kind).map(|(_, n)| n.as_str()).collect();
            let mut after = Some(String::new());
            while let Some(from) = after.filter(|_| !names.is_empty()) {
                after = self.set_counters(&mut session, kind, Some(&names), &from, KEYS).await?;
            }
        }
        session.end().await?;
        self.wake_changed(&changed).await
    }

    /// Rows that waited under the old terms look again, a piece at a time.
    async fn wake_changed(&self, changed: &[(LimitKind, String)]) -> Result<BTreeSet<String>, Error> {
        let mut queues = BTreeSet::new();
        for (cause, prefix) in changed.iter().flat_map(|(kind, name)| causes_of(*kind, name)) {
            loop {
                let mut session = self.writing("waking what was set aside", Survive::Crash).await?;
                let query = sqlx::query(sql::unblock_name()).bind(&cause).bind(&prefix).bind(ROWS).bind(self.now());
                let woken = session.rows(query).await?;
                session.end().await?;
                for row in &woken {
                    queues.insert(rows::get(row, "queue")?);
                }
                if woken.len() < usize::try_from(ROWS).unwrap_or(usize::MAX) {
                    break;
                }
            }
        }
        Ok(queues)
    }

    pub(super) async fn heal_counters(
        &self,
        kind: LimitKind,
        after: &str,
        limit: u32,
    ) -> Result<Option<String>, Error> {
        let mut session = self.writing("counting slots", Survive::Crash).await?;
        let last = self.set_counters(&mut session, kind, None, after, limit).await?;
        session.end().await?;
        Ok(last)
    }

    /// Sets the counters of some keys to what really runs; answers with the last key, if there may be more.
    async fn set_counters(
        &self,
        session: &mut Session<'_>,
        kind: LimitKind,
        names: Option<&[&str]>,
        after: &str,
        limit: u32,
    ) -> Result<Option<String>, Error> {
        let query = sqlx::query(sql::counters()).bind(kind.as_str()).bind(names.map(|n| json(&n)).transpose()?);
        let found = session.rows(query.bind(after).bind(i64::from(limit))).await?;
        let standing = standing(&found)?;
        if standing.is_empty() {
            return Ok(None);
        }
        let keys: Vec<&str> = standing.keys().map(String::as_str).collect();
        let running = if kind == LimitKind::Gate { running(session, &keys).await? } else { HashMap::new() };
        let now = timestamp(self.now());
        // Only a change of the limits is for limits by name.
        let written = limiting::set(kind, &standing, &running, names.is_some(), now);
        session.rows(sqlx::query(sql::buckets_drop()).bind(kind.as_str()).bind(json(&keys)?)).await?;
        let counters = json(&written.iter().map(|(key, b)| admit::row(kind, key, b)).collect::<Vec<_>>())?;
        session.rows(sqlx::query(sql::buckets_write()).bind(counters)).await?;
        let more = keys.len() == limit as usize;
        Ok(keys.last().filter(|_| more).map(|key| (*key).to_owned()))
    }
}

/// Wakes as many as are free, and as were freed.
pub(super) async fn unblock(
    session: &mut Session<'_>,
    keys: &[(String, u32)],
    now: i64,
) -> Result<BTreeSet<String>, Error> {
    let names: Vec<&str> = keys.iter().map(|(key, _)| key.as_str()).collect();
    let found = session.rows(sqlx::query(sql::unblock_free()).bind(json(&names)?)).await?;
    let mut free: HashMap<String, i64> = HashMap::new();
    for row in &found {
        free.insert(rows::get(row, "key")?, rows::get(row, "slots")?);
    }
    let mut queues = BTreeSet::new();
    for (key, slots) in keys {
        let slots = i64::from(*slots).min(free.get(key).copied().unwrap_or(0));
        if slots > 0 {
            for row in session.rows(sqlx::query(sql::unblock()).bind(key).bind(slots).bind(now)).await? {
                queues.insert(rows::get(&row, "queue")?);
            }
        }
    }
    Ok(queues)
}

async fn running(session: &mut Session<'_>, keys: &[&str]) -> Result<HashMap<String, Vec<(i16, f64)>>, Error> {
    let mut running: HashMap<String, Vec<(i16, f64)>> = HashMap::new();
    for row in session.rows(sqlx::query(sql::slots_taken()).bind(json(&keys)?)).await? {
        let slots = rows::get::<i64>(&row, "slots")? as f64;
        running.entry(rows::get(&row, "key")?).or_default().push((rows::small(&row, "shard")?, slots));
    }
    Ok(running)
}

fn standing(found: &[SqliteRow]) -> Result<BTreeMap<String, Standing>, Error> {
    let mut all = BTreeMap::new();
    for row in found {
        let capacity: Option<f64> = rows::get(row, "config_capacity")?;
        let rate = rows::get::<Option<f64>>(row, "rate")?.unwrap_or(0.0);
        let shards = rows::get::<Option<i64>>(row, "shards")?.map(i16::try_from).transpose();
        let shards = shards.map_err(|_| rows::unreadable("shards"))?;
        let config = capacity.zip(shards).map(|(capacity, shards)| LimitConfig { capacity, rate, shards });
        let bucket = Bucket {
            shard: rows::small(row, "shard")?,
            capacity: rows::get(row, "capacity")?,
            available: rows::get(row, "available")?,
            owed: rows::get(row, "owed")?,
            refilled: rows::get::<Option<i64>>(row, "last_refill")?.map(timestamp),
            promised: rows::get::<Option<i64>>(row, "promised_at")?.map(timestamp),
        };
        let of: &mut Standing =
            all.entry(rows::get(row, "key")?).or_insert_with(|| Standing { config, buckets: vec![] });
        of.buckets.push(bucket);
    }
    Ok(all)
}

/// Gives slots back in the transaction that ended their runs, and wakes who waited for them: nobody else writes meanwhile.
pub(super) async fn give_back(
    session: &mut Session<'_>,
    mut keys: Vec<String>,
    mut slots: Vec<(String, i16)>,
    ended: &[i64],
    now: i64,
) -> Result<BTreeSet<String>, Error> {
    if !ended.is_empty() {
        for row in session.rows(sqlx::query(sql::release_held()).bind(json(&ended)?)).await? {
            let key: String = rows::get(&row, "key")?;
            slots.push((key.clone(), rows::small(&row, "shard")?));
            keys.push(key);
        }
    }
    if !slots.is_empty() {
        session.rows(sqlx::query(sql::credit()).bind(json(&slots)?)).await?;
    }
    if keys.is_empty() {
        return Ok(BTreeSet::new());
    }
    unblock(session, &limiting::counts(keys.iter().map(String::as_str)), now).await
}
