//! Claims under gates, keys and rate limits: one transaction, in which [`Admission`] decides and nobody else writes.

use std::collections::{BTreeSet, HashMap};

use sqlx::sqlite::SqliteRow;

use super::{
    Sqlite, claim,
    encode::json,
    rows,
    session::{Session, Survive},
    sql,
};
use crate::{
    Error,
    model::{
        Claim, InstanceId, Transition,
        admission::{Admission, Admitted, Bucket, Candidate, LimitConfig, LimitKind},
    },
    store::{
        ClaimOrder, Claimed,
        limiting::{self, CANDIDATES, Charges, Counted, Counter},
        written::{moment, timestamp},
    },
};

impl Sqlite {
    pub(super) async fn claim_limited(&self, order: &ClaimOrder<'_>) -> Result<Claimed, Error> {
        let mut session = self.writing("claiming under limits", Survive::Crash).await?;
        let now = self.now();
        let candidates = candidates(&mut session, order, now).await?;
        let mut admission = limits_of(&mut session, &candidates, now).await?;
        let answers = admission.decide(&candidates, order.limit as usize);
        let (standing, minted) = limiting::changed(&admission);
        write_counters(&mut session, standing.iter().chain(&minted)).await?;
        let taken = limiting::taken(&candidates, &answers).map(|(c, slot)| (c.id.get(), slot)).collect::<Vec<_>>();
        let mut claims = if taken.is_empty() { vec![] } else { claim::take(&mut session, order, &taken, now).await? };
        limiting::mark_held(&mut claims, &order.known.held);
        note_held(&mut session, &claims).await?;
        set_aside(&mut session, &candidates, &answers, now).await?;
        let next = if claims.is_empty() { claim::next(&mut session, order.queue, now).await? } else { (None, None) };
        session.end().await?;
        Ok(Claimed {
            looked: limiting::looked(&answers, order.limit, claims.len()),
            claims,
            limited: !candidates.is_empty(),
            strangers: false,
            // Nobody else wrote meanwhile: what was found busy is, and nobody held what was counted.
            wakes: BTreeSet::new(),
            now: timestamp(now),
            next_due: next.0.map(timestamp),
            next_deadline: next.1.map(timestamp),
        })
    }
}

async fn candidates(session: &mut Session<'_>, order: &ClaimOrder<'_>, now: i64) -> Result<Vec<Candidate>, Error> {
    let query = sqlx::query(sql::candidates())
        .bind(order.queue)
        .bind(i64::from(order.limit.max(CANDIDATES)))
        .bind(json(&claim::known(order.known))?)
        .bind(order.crashed)
        .bind(now)
        .bind(json(&order.known.held)?);
    session.rows(query).await?.iter().map(candidate).collect()
}

fn candidate(row: &SqliteRow) -> Result<Candidate, Error> {
    let rate: Option<String> = rows::get(row, "rate_limit")?;
    let weight: f64 = rows::get(row, "weight")?;
    let holds = rows::get::<Option<i64>>(row, "holds")?.map(i16::try_from).transpose();
    Ok(Candidate {
        id: InstanceId::new(rows::get(row, "id")?),
        key: rows::get(row, "concurrency_key")?,
        busy: rows::get(row, "busy")?,
        holds: holds.map_err(|_| rows::unreadable("holds"))?,
        rate: rate.map(|key| (key, weight)),
        crashed: rows::get(row, "crashed")?,
        was_blocked: rows::get(row, "was_blocked")?,
    })
}

async fn limits_of(session: &mut Session<'_>, candidates: &[Candidate], now: i64) -> Result<Admission, Error> {
    let mut admission = limits_named(session, limiting::names(candidates), now).await?;
    let counted = limiting::counted(&admission, candidates);
    read_counters(session, &mut admission, &counted).await?;
    Ok(admission)
}

async fn limits_named(
    session: &mut Session<'_>,
    (kinds, names): (Vec<&'static str>, Vec<&str>),
    now: i64,
) -> Result<Admission, Error> {
    let named: Vec<(&str, &str)> = kinds.into_iter().zip(names).collect();
    let found = session.rows(sqlx::query(sql::limits()).bind(json(&named)?)).await?;
    let configs = found.iter().map(config).collect::<Result<HashMap<_, _>, Error>>()?;
    Ok(Admission { configs, buckets: HashMap::new(), now: timestamp(now) })
}

async fn read_counters(
    session: &mut Session<'_>,
    admission: &mut Admission,
    counted: &Counted<'_>,
) -> Result<(), Error> {
    if counted.is_empty() {
        return Ok(());
    }
    let keys: Vec<(&str, &str)> = counted.keys().map(|(kind, key)| (kind.as_str(), *key)).collect();
    for row in session.rows(sqlx::query(sql::buckets()).bind(json(&keys)?)).await? {
        let of = (kind(&row)?, rows::get::<String>(&row, "key")?);
        admission.buckets.entry(of).or_default().rows.push(bucket(&row)?);
    }
    Ok(())
}

/// Takes what was really used from rate limits, in the transaction that commits it. Nothing is asked where nothing is charged.
pub(super) async fn charge(session: &mut Session<'_>, written: &[&Transition], now: i64) -> Result<(), Error> {
    let charges = Charges::of(written);
    if charges.is_empty() {
        return Ok(());
    }
    let mut admission = limits_named(session, charges.names(), now).await?;
    charges.make_known(&mut admission);
    let counted = charges.keys().map(|key| (key, 1)).collect();
    read_counters(session, &mut admission, &counted).await?;
    charges.take_from(&mut admission);
    let (standing, minted) = limiting::changed(&admission);
    write_counters(session, standing.iter().chain(&minted)).await
}

pub(super) fn kind(row: &SqliteRow) -> Result<LimitKind, Error> {
    LimitKind::from_stored(rows::get(row, "kind")?).ok_or_else(|| rows::unreadable("kind"))
}

pub(super) fn config(row: &SqliteRow) -> Result<((LimitKind, String), LimitConfig), Error> {
    let (capacity, rate) = (rows::get(row, "capacity")?, rows::get(row, "rate")?);
    let config = LimitConfig { capacity, rate, shards: rows::small(row, "shards")? };
    Ok(((kind(row)?, rows::get(row, "name")?), config))
}

fn bucket(row: &SqliteRow) -> Result<Bucket, Error> {
    Ok(Bucket {
        shard: rows::small(row, "shard")?,
        capacity: rows::get(row, "capacity")?,
        available: rows::get(row, "available")?,
        owed: rows::get(row, "owed")?,
        refilled: rows::get::<Option<i64>>(row, "last_refill")?.map(timestamp),
        promised: rows::get::<Option<i64>>(row, "promised_at")?.map(timestamp),
    })
}

/// A counter as buckets_write.sql takes it.
type Row<'a> = (&'a str, &'a str, i16, f64, f64, f64, Option<i64>, Option<i64>);

pub(super) fn row<'a>(kind: LimitKind, key: &'a str, b: &Bucket) -> Row<'a> {
    (kind.as_str(), key, b.shard, b.capacity, b.available, b.owed, b.refilled.map(moment), b.promised.map(moment))
}

async fn write_counters<'a>(
    session: &mut Session<'_>,
    counters: impl Iterator<Item = &'a Counter<'a>>,
) -> Result<(), Error> {
    let all: Vec<Row<'_>> = counters.map(|c| row(c.kind, c.key, c.bucket)).collect();
    if all.is_empty() {
        return Ok(());
    }
    session.rows(sqlx::query(sql::buckets_write()).bind(json(&all)?)).await.map(drop)
}

async fn note_held(session: &mut Session<'_>, claims: &[Claim]) -> Result<(), Error> {
    let held = claims.iter().filter(|c| c.holds);
    let held: Vec<(i64, &str, i16)> =
        held.filter_map(|c| Some((c.id.get(), c.concurrency_key.as_deref()?, c.slot?))).collect();
    if held.is_empty() {
        return Ok(());
    }
    session.rows(sqlx::query(sql::hold_slots()).bind(json(&held)?)).await.map(drop)
}

async fn set_aside(
    session: &mut Session<'_>,
    candidates: &[Candidate],
    answers: &[Admitted],
    now: i64,
) -> Result<(), Error> {
    let blocked: Vec<(i64, &str, Option<i64>)> = limiting::blocked(candidates, answers)
        .map(|(c, blocked)| (c.id.get(), blocked.by.as_str(), blocked.until.map(moment)))
        .collect();
    if blocked.is_empty() {
        return Ok(());
    }
    session.rows(sqlx::query(sql::set_aside()).bind(json(&blocked)?).bind(now)).await.map(drop)
}
