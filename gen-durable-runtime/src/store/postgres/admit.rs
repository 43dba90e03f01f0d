//! Claims under gates, keys and rate limits: candidates are locked, then the counters; what passes is decided by
//! [`Admission`], and all of it is written in one transaction.

use std::{
    collections::{BTreeSet, HashMap},
    time::Duration,
};

use sqlx::postgres::PgRow;

use super::{Postgres, rows, session::Session};
use crate::{
    Error, StoreClass,
    model::{
        Claim, InstanceId,
        admission::{Admission, Admitted, Bucket, Candidate, LimitConfig, LimitKind},
    },
    store::{
        ClaimOrder, Claimed,
        limiting::{self, CANDIDATES, Counted, Counter},
        written::{moment, timestamp},
    },
};

const OPERATION: &str = "claiming under limits";

/// How soon to look again where someone else held the counters, or a key, of rows that are due.
const IN_FLIGHT: Duration = Duration::from_millis(20);

impl Postgres {
    pub(super) async fn claim_limited(&self, order: &ClaimOrder<'_>) -> Result<Claimed, Error> {
        let mut session = self.session(OPERATION).await?;
        session.begin_unflushed().await?;
        let candidates = self.candidates(&mut session, order).await?;
        let mut admission = self.limits_of(&mut session, &candidates).await?;
        let answers = admission.decide(&candidates, order.limit as usize);
        self.write_counters(&mut session, &admission).await?;
        let claims = self.take(&mut session, order, &candidates, &answers).await?;
        self.note_held(&mut session, &claims).await?;
        self.set_aside(&mut session, &candidates, &answers).await?;
        let short = claims.len() < order.limit as usize;
        let next = if claims.is_empty() { self.next_moments(&mut session, order.queue).await? } else { (None, None) };
        session.end().await?;
        // In a new snapshot: a key that became free while this went on found nobody set aside.
        let aside = limiting::set_aside_for(&answers);
        let wakes = if aside.is_empty() { BTreeSet::new() } else { self.unblock_keys(&aside).await? };
        let missed = short && someone_else_held_some(&answers, &admission, claims.len());
        let again = if missed { admission.now.checked_add(IN_FLIGHT).ok() } else { None };
        Ok(Claimed {
            looked: limiting::looked(&answers, order.limit, claims.len()),
            claims,
            limited: !candidates.is_empty(),
            strangers: false,
            wakes,
            now: admission.now,
            next_due: next.0.into_iter().chain(again).min(),
            next_deadline: next.1,
        })
    }

    async fn candidates(&self, session: &mut Session<'_>, order: &ClaimOrder<'_>) -> Result<Vec<Candidate>, Error> {
        let query = sqlx::query(self.statements().candidates())
            .bind(order.queue)
            .bind(i64::from(order.limit.max(CANDIDATES)))
            .bind(&order.known.machines)
            .bind(&order.known.versions)
            .bind(&order.known.steps)
            .bind(order.crashed)
            .bind(&order.known.held);
        session.rows(query).await?.iter().map(candidate).collect()
    }

    /// The limits that the candidates name, and their counters, locked.
    async fn limits_of(&self, session: &mut Session<'_>, candidates: &[Candidate]) -> Result<Admission, Error> {
        let mut admission = self.limits_named(session, &limiting::names(candidates)).await?;
        let counted = limiting::counted(&admission, candidates);
        self.hold_counters(session, &mut admission, &counted).await?;
        Ok(admission)
    }

    /// The limits with these names, and the time.
    pub(super) async fn limits_named(
        &self,
        session: &mut Session<'_>,
        (kinds, names): &(Vec<&'static str>, Vec<&str>),
    ) -> Result<Admission, Error> {
        let found = session.rows(sqlx::query(self.statements().limits()).bind(kinds).bind(names)).await?;
        let first = found.first().ok_or_else(|| rows::unreadable("now_us"))?;
        let now = timestamp(rows::get(first, "now_us")?);
        let named = found.iter().filter(|r| rows::get::<Option<&str>>(r, "kind").is_ok_and(|kind| kind.is_some()));
        let configs = named.map(config).collect::<Result<HashMap<_, _>, Error>>()?;
        Ok(Admission { configs, buckets: HashMap::new(), now })
    }

    /// Adds the counters of these keys, as far as nobody else holds them.
    pub(super) async fn hold_counters(
        &self,
        session: &mut Session<'_>,
        admission: &mut Admission,
        counted: &Counted<'_>,
    ) -> Result<(), Error> {
        if counted.is_empty() {
            return Ok(());
        }
        let (kinds, keys): (Vec<&str>, Vec<&str>) = counted.keys().map(|(kind, key)| (kind.as_str(), *key)).unzip();
        let slots: Vec<f64> = counted.values().map(|rows| f64::from(*rows)).collect();
        let query = sqlx::query(self.statements().buckets()).bind(&kinds).bind(&keys).bind(slots);
        for row in session.rows(query).await? {
            admission.now = timestamp(rows::get(&row, "now_us")?);
            let of = (kind(&row)?, rows::get::<String>(&row, "key")?);
            let buckets = admission.buckets.entry(of).or_default();
            if let Some(shard) = rows::get(&row, "shard")? {
                buckets.rows.push(bucket(&row, shard)?);
            }
            let stand = usize::try_from(rows::get::<i64>(&row, "stand")?).unwrap_or(0);
            buckets.locked = stand > buckets.rows.len();
        }
        Ok(())
    }

    pub(super) async fn write_counters(&self, session: &mut Session<'_>, admission: &Admission) -> Result<(), Error> {
        let (standing, minted) = limiting::changed(admission);
        if !standing.is_empty() {
            let query = sqlx::query(self.statements().buckets_write())
                .bind(column(&standing, |c| c.kind.as_str()))
                .bind(column(&standing, |c| c.key))
                .bind(column(&standing, |c| c.bucket.shard))
                .bind(column(&standing, |c| c.bucket.available))
                .bind(column(&standing, |c| c.bucket.owed))
                .bind(column(&standing, |c| c.bucket.refilled.map(moment)))
                .bind(column(&standing, |c| c.bucket.promised.map(moment)));
            session.rows(query).await?;
        }
        if minted.is_empty() {
            return Ok(());
        }
        let query = sqlx::query(self.statements().buckets_mint())
            .bind(column(&minted, |c| c.kind.as_str()))
            .bind(column(&minted, |c| c.key))
            .bind(column(&minted, |c| c.bucket.shard))
            .bind(column(&minted, |c| c.bucket.capacity))
            .bind(column(&minted, |c| c.bucket.available))
            .bind(column(&minted, |c| c.bucket.refilled.map(moment)))
            .bind(column(&minted, |c| c.bucket.promised.map(moment)))
            .bind(column(&minted, |c| c.bucket.owed));
        let made = session.rows(query).await?;
        // Another claim made them just now, and what it left is not known here: taken again as a whole.
        let all = made.len() == minted.len();
        if all { Ok(()) } else { Err(Error::store(OPERATION, StoreClass::Conflict, "another claim made the counters")) }
    }

    async fn take(
        &self,
        session: &mut Session<'_>,
        order: &ClaimOrder<'_>,
        candidates: &[Candidate],
        answers: &[Admitted],
    ) -> Result<Vec<Claim>, Error> {
        let (mut ids, mut slots, mut keys) = (vec![], vec![], vec![]);
        for (candidate, slot) in limiting::taken(candidates, answers) {
            ids.push(candidate.id.get());
            slots.push(slot);
            keys.push(candidate.key.as_deref().filter(|_| slot.is_none()));
        }
        if ids.is_empty() {
            return Ok(vec![]);
        }
        let query = sqlx::query(self.statements().claim_take()).bind(&ids).bind(slots).bind(keys);
        let known = order.known;
        let query = query.bind(order.token.as_str()).bind(rows::micros(order.lease));
        let query = query.bind(&known.machines).bind(&known.versions).bind(&known.steps).bind(&known.timed);
        let found = session.rows(query).await?;
        let mut claims =
            found.iter().map(|r| rows::claim(r, &order.token, order.queue)).collect::<Result<Vec<Claim>, _>>()?;
        let place: HashMap<i64, usize> = ids.iter().enumerate().map(|(at, id)| (*id, at)).collect();
        claims.sort_by_key(|claim| place.get(&claim.id.get()).copied());
        limiting::mark_held(&mut claims, &order.known.held);
        Ok(claims)
    }

    async fn note_held(&self, session: &mut Session<'_>, claims: &[Claim]) -> Result<(), Error> {
        let held = claims.iter().filter(|c| c.holds);
        let held: Vec<(i64, &str, i16)> =
            held.filter_map(|c| Some((c.id.get(), c.concurrency_key.as_deref()?, c.slot?))).collect();
        if held.is_empty() {
            return Ok(());
        }
        let query = sqlx::query(self.statements().hold_slots())
            .bind(held.iter().map(|(id, ..)| *id).collect::<Vec<i64>>())
            .bind(held.iter().map(|(_, key, _)| *key).collect::<Vec<&str>>())
            .bind(held.iter().map(|(.., shard)| *shard).collect::<Vec<i16>>());
        session.rows(query).await.map(drop)
    }

    async fn set_aside(
        &self,
        session: &mut Session<'_>,
        candidates: &[Candidate],
        answers: &[Admitted],
    ) -> Result<(), Error> {
        let (mut ids, mut causes, mut until) = (vec![], vec![], vec![]);
        for (candidate, blocked) in limiting::blocked(candidates, answers) {
            ids.push(candidate.id.get());
            causes.push(blocked.by.as_str());
            until.push(blocked.until.map(moment));
        }
        if ids.is_empty() {
            return Ok(());
        }
        let query = sqlx::query(self.statements().set_aside()).bind(ids).bind(causes).bind(until);
        session.rows(query).await.map(drop)
    }

    async fn next_moments(
        &self,
        session: &mut Session<'_>,
        queue: &str,
    ) -> Result<(Option<jiff::Timestamp>, Option<jiff::Timestamp>), Error> {
        let found = session.rows(sqlx::query(self.statements().claim_next()).bind(queue)).await?;
        let Some(row) = found.first() else { return Ok((None, None)) };
        let at = |column| -> Result<_, Error> { Ok(rows::get::<Option<i64>>(row, column)?.map(timestamp)) };
        Ok((at("due_us")?, at("deadline_us")?))
    }
}

fn column<'a, T>(counters: &[Counter<'a>], of: impl Fn(&Counter<'a>) -> T) -> Vec<T> {
    counters.iter().map(of).collect()
}

fn candidate(row: &PgRow) -> Result<Candidate, Error> {
    let rate: Option<String> = rows::get(row, "rate_limit")?;
    let weight: f64 = rows::get(row, "weight")?;
    Ok(Candidate {
        id: InstanceId::new(rows::get(row, "id")?),
        key: rows::get(row, "concurrency_key")?,
        busy: rows::get(row, "busy")?,
        holds: rows::get(row, "holds")?,
        rate: rate.map(|key| (key, weight)),
        crashed: rows::get::<i32>(row, "crashes")? > 1,
        was_blocked: rows::get(row, "was_blocked")?,
    })
}

pub(super) fn kind(row: &PgRow) -> Result<LimitKind, Error> {
    LimitKind::from_stored(rows::get(row, "kind")?).ok_or_else(|| rows::unreadable("kind"))
}

pub(super) fn config(row: &PgRow) -> Result<((LimitKind, String), LimitConfig), Error> {
    let config = LimitConfig {
        capacity: rows::get(row, "capacity")?,
        rate: rows::get(row, "rate")?,
        shards: rows::get(row, "shards")?,
    };
    Ok(((kind(row)?, rows::get(row, "name")?), config))
}

fn bucket(row: &PgRow, shard: i16) -> Result<Bucket, Error> {
    let at = |column| -> Result<_, Error> { Ok(rows::get::<Option<i64>>(row, column)?.map(timestamp)) };
    Ok(Bucket {
        shard,
        capacity: rows::get(row, "capacity")?,
        available: rows::get(row, "available")?,
        owed: rows::get(row, "owed")?,
        refilled: at("refilled_us")?,
        promised: at("promised_us")?,
    })
}

/// Counters, or a key, of rows that are due.
fn someone_else_held_some(answers: &[Admitted], admission: &Admission, claims: usize) -> bool {
    let passed = answers.iter().filter(|a| matches!(a, Admitted::Takes(_))).count();
    let some_left = answers.contains(&Admitted::Left);
    some_left && admission.buckets.values().any(|b| b.locked) || passed > claims
}
