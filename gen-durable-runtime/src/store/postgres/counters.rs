//! Limits and their counters, beside the claims: what frees a slot, what an operator says, what a crash left.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use sqlx::postgres::PgRow;

use super::{Postgres, rows, session::Session};
use crate::{
    Error,
    model::admission::{Bucket, LimitKind, name_of},
    store::{
        LimitDef,
        limiting::{self, Saying, Standing, causes_of},
        written::{moment, timestamp},
    },
};

/// Keys whose counters are set at once.
const KEYS: u32 = 200;
/// Rows that are woken at once when a limit changed.
const ROWS: i64 = 1_000;

impl Postgres {
    pub(super) async fn unblock_keys(&self, keys: &[(String, u32)]) -> Result<BTreeSet<String>, Error> {
        let (keys, slots): (Vec<&str>, Vec<i64>) = keys.iter().map(|(key, n)| (key.as_str(), i64::from(*n))).unzip();
        let woken = self
            .ask("waking what was set aside", sqlx::query(self.statements().unblock()).bind(keys).bind(slots))
            .await?;
        woken.iter().map(|r| rows::get(r, "queue")).collect()
    }

    pub(super) async fn blocked_causes(&self, after: &str, limit: u32) -> Result<Vec<String>, Error> {
        let query = sqlx::query(self.statements().blocked()).bind(after).bind(i64::from(limit));
        let found = self.ask("looking at what was set aside", query).await?;
        found.iter().map(|r| rows::get(r, "blocked_by")).collect()
    }

    pub(super) async fn define(&self, limits: &[LimitDef], saying: Saying) -> Result<BTreeSet<String>, Error> {
        let mut session = self.session("making limits known").await?;
        session.begin().await?;
        let query = sqlx::query(self.statements().define_limits())
            .bind(limits.iter().map(|l| l.kind.as_str()).collect::<Vec<_>>())
            .bind(limits.iter().map(|l| l.name.as_str()).collect::<Vec<_>>())
            .bind(limits.iter().map(|l| l.config.capacity).collect::<Vec<_>>())
            .bind(limits.iter().map(|l| Some(l.config.rate).filter(|rate| *rate > 0.0)).collect::<Vec<_>>())
            .bind(limits.iter().map(|l| l.config.shards).collect::<Vec<_>>())
            .bind(saying == Saying::Operator)
            .bind(saying == Saying::Reset);
        let changed = session.rows(query).await?;
        let changed = changed.iter().map(|r| Ok((super::admit::kind(r)?, rows::get(r, "name")?)));
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
                let query = sqlx::query(self.statements().unblock_name()).bind(&cause).bind(&prefix).bind(ROWS);
                let woken = self.ask("waking what was set aside", query).await?;
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
        let mut session = self.session("counting slots").await?;
        session.begin().await?;
        let last = self.set_counters(&mut session, kind, None, after, limit).await?;
        session.end().await?;
        Ok(last)
    }

    /// Locks the counters of some keys, then sets them to what really runs: the second statement sees every commit that
    /// gave a slot back before the lock. Answers with the last key, if there may be more.
    async fn set_counters(
        &self,
        session: &mut Session<'_>,
        kind: LimitKind,
        names: Option<&[&str]>,
        after: &str,
        limit: u32,
    ) -> Result<Option<String>, Error> {
        let query = sqlx::query(self.statements().counters()).bind(kind.as_str()).bind(names);
        let found = session.rows(query.bind(after).bind(i64::from(limit))).await?;
        let (mut standing, now) = standing(&found)?;
        if standing.is_empty() {
            return Ok(None);
        }
        self.know_limits(session, kind, &mut standing).await?;
        let locked = standing.iter().flat_map(|(key, s)| s.buckets.iter().map(move |b| (key.as_str(), b.shard)));
        let (locked_keys, locked_shards): (Vec<&str>, Vec<i16>) = locked.unzip();
        let keys: Vec<&str> = standing.keys().map(String::as_str).collect();
        let mut running: HashMap<String, Vec<(i16, f64)>> = HashMap::new();
        if kind == LimitKind::Gate {
            for row in session.rows(sqlx::query(self.statements().slots_taken()).bind(&keys)).await? {
                let slots = rows::get::<i64>(&row, "slots")? as f64;
                running.entry(rows::get(&row, "key")?).or_default().push((rows::get(&row, "shard")?, slots));
            }
        }
        // Only a change of the limits is for limits by name.
        let written = limiting::set(kind, &standing, &running, names.is_some(), now);
        let query = sqlx::query(self.statements().counters_write())
            .bind(kind.as_str())
            .bind(written.iter().map(|(key, _)| *key).collect::<Vec<_>>())
            .bind(written.iter().map(|(_, b)| b.shard).collect::<Vec<_>>())
            .bind(written.iter().map(|(_, b)| b.capacity).collect::<Vec<_>>())
            .bind(written.iter().map(|(_, b)| b.available).collect::<Vec<_>>())
            .bind(written.iter().map(|(_, b)| b.owed).collect::<Vec<_>>())
            .bind(written.iter().map(|(_, b)| b.refilled.map(moment)).collect::<Vec<_>>())
            .bind(&locked_keys)
            .bind(written.iter().map(|(_, b)| b.promised.map(moment)).collect::<Vec<_>>())
            .bind(&locked_shards);
        session.rows(query).await?;
        let more = keys.len() == limit as usize;
        // The last one in the order of the database, which may have a collation of its own.
        found.last().filter(|_| more).map(|row| rows::get(row, "key")).transpose()
    }

    /// What the limits say now: they may have changed while the locks were waited for.
    async fn know_limits(
        &self,
        session: &mut Session<'_>,
        kind: LimitKind,
        standing: &mut BTreeMap<String, Standing>,
    ) -> Result<(), Error> {
        let names: BTreeSet<&str> = standing.keys().map(|key| name_of(key)).collect();
        let named = (vec![kind.as_str(); names.len()], names.into_iter().collect());
        let now = self.limits_named(session, &named).await?;
        for (key, of) in standing.iter_mut() {
            of.config = now.config(kind, key);
        }
        Ok(())
    }

    /// Gives slots back in the transaction that ended their runs.
    pub(super) async fn credit(&self, session: &mut Session<'_>, slots: &[(String, i16)]) -> Result<(), Error> {
        if slots.is_empty() {
            return Ok(());
        }
        let (keys, shards): (Vec<&str>, Vec<i16>) = slots.iter().map(|(key, shard)| (key.as_str(), *shard)).unzip();
        session.rows(sqlx::query(self.statements().credit()).bind(keys).bind(shards)).await.map(drop)
    }

    /// The slots that instances which end had kept.
    pub(super) async fn release_kept(
        &self,
        session: &mut Session<'_>,
        ids: &[i64],
    ) -> Result<Vec<(String, i16)>, Error> {
        if ids.is_empty() {
            return Ok(vec![]);
        }
        let gone = session.rows(sqlx::query(self.statements().release_held()).bind(ids)).await?;
        gone.iter().map(|r| Ok((rows::get(r, "key")?, rows::get(r, "shard")?))).collect()
    }
}

fn standing(found: &[PgRow]) -> Result<(BTreeMap<String, Standing>, jiff::Timestamp), Error> {
    let (mut all, mut now) = (BTreeMap::new(), jiff::Timestamp::UNIX_EPOCH);
    for row in found {
        now = timestamp(rows::get(row, "now_us")?);
        let bucket = Bucket {
            shard: rows::get(row, "shard")?,
            capacity: rows::get(row, "capacity")?,
            available: rows::get(row, "available")?,
            owed: rows::get(row, "owed")?,
            refilled: rows::get::<Option<i64>>(row, "refilled_us")?.map(timestamp),
            promised: rows::get::<Option<i64>>(row, "promised_us")?.map(timestamp),
        };
        let of: &mut Standing =
            all.entry(rows::get(row, "key")?).or_insert_with(|| Standing { config: None, buckets: vec![] });
        of.buckets.push(bucket);
    }
    Ok((all, now))
}
