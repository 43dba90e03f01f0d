//! Claims and leases.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    time::Duration,
};

use sqlx::sqlite::SqliteRow;

use super::{
    Sqlite,
    encode::json,
    rows,
    session::{Session, Survive},
    sql,
    taken::Taken,
};
use crate::{
    Error,
    model::{Claim, ClaimToken, InstanceId, Json, ReceivedSignal, Wake},
    store::{
        ClaimOrder, Claimed, Known, Renewed,
        workers::CROWD,
        written::{micros, timestamp},
    },
};

impl Sqlite {
    pub(super) async fn claim_rows(&self, order: &ClaimOrder<'_>) -> Result<Claimed, Error> {
        let mut session = self.writing("claiming", Survive::Crash).await?;
        // Within the lock: a due moment judged before it would be too early for what was committed meanwhile.
        let now = self.now();
        let due = due(&mut session, order, now).await?;
        let (chosen, mut limited) = choose(&due)?;
        let mut strangers = false;
        if order.look {
            let (keys, unknown) = crowd(&mut session, order, now).await?;
            (limited, strangers) = (limited || keys >= CROWD, unknown >= CROWD);
        }
        let claims = if chosen.is_empty() { vec![] } else { take(&mut session, order, &chosen, now).await? };
        let (next_due, next_deadline) =
            if claims.is_empty() { next(&mut session, order.queue, now).await? } else { (None, None) };
        session.end().await?;
        Ok(Claimed {
            claims,
            looked: due.len(),
            limited,
            strangers,
            wakes: BTreeSet::new(),
            now: timestamp(now),
            next_due: next_due.map(timestamp),
            next_deadline: next_deadline.map(timestamp),
        })
    }

    /// There is nobody to wait for: a claim that was not renewed is lost.
    pub(super) async fn renew_leases(
        &self,
        claims: &[(InstanceId, ClaimToken)],
        lease: Duration,
    ) -> Result<Renewed, Error> {
        let pairs: Vec<(i64, &str)> = claims.iter().map(|(id, token)| (id.get(), token.as_str())).collect();
        let mut session = self.writing("renewing leases", Survive::Crash).await?;
        let query = sqlx::query(sql::renew()).bind(json(&pairs)?).bind(self.now().saturating_add(micros(lease)));
        let renewed = session.rows(query).await?;
        session.end().await?;
        let cancelled = renewed.iter().filter(|r| rows::get(r, "cancelled").unwrap_or(false));
        let cancelled = cancelled.map(|r| Ok(InstanceId::new(rows::get(r, "id")?))).collect::<Result<_, Error>>()?;
        let renewed = renewed.iter().map(|r| rows::get(r, "id")).collect::<Result<HashSet<i64>, _>>()?;
        let lost = claims.iter().filter(|(id, _)| !renewed.contains(&id.get())).cloned().collect();
        Ok(Renewed { busy: vec![], lost, cancelled })
    }

    pub(super) async fn renew_one_lease(
        &self,
        id: InstanceId,
        token: &ClaimToken,
        lease: Duration,
    ) -> Result<bool, Error> {
        Ok(self.renew_leases(&[(id, token.clone())], lease).await?.lost.is_empty())
    }
}

/// Of the first rows that are due, how many wait for busy keys, and how many are of unknown code.
async fn crowd(session: &mut Session<'_>, order: &ClaimOrder<'_>, now: i64) -> Result<(u32, u32), Error> {
    let query = sqlx::query(sql::claim_crowd()).bind(order.queue).bind(now).bind(json(&known(order.known))?);
    let found = session.rows(query).await?;
    let Some(row) = found.first() else { return Ok((0, 0)) };
    Ok((rows::small(row, "crowd")?, rows::small(row, "strangers")?))
}

async fn due(session: &mut Session<'_>, order: &ClaimOrder<'_>, now: i64) -> Result<Vec<SqliteRow>, Error> {
    let query =
        sqlx::query(sql::claim()).bind(order.queue).bind(i64::from(order.limit)).bind(json(&known(order.known))?);
    session.rows(query.bind(order.crashed).bind(now)).await
}

/// What this worker can run, row by row.
pub(super) fn known(known: &Known) -> Vec<(&str, i32, &str)> {
    (known.machines.iter().zip(&known.versions).zip(&known.steps))
        .map(|((machine, version), step)| (machine.as_str(), *version, step.as_str()))
        .collect()
}

/// A row, and the slot of its gate.
type Chosen = (i64, Option<i16>);

/// Whether there are others, under limits; and the first row of each key, and the first that crashed twice before. One that is left for the next claim keeps its place
/// in the line of its key: nobody behind it overtakes.
fn choose(due: &[SqliteRow]) -> Result<(Vec<Chosen>, bool), Error> {
    let (mut keys, mut crashed, mut limited) = (HashSet::new(), false, false);
    let mut chosen = Vec::with_capacity(due.len());
    for row in due {
        if rows::get(row, "limited")? {
            limited = true;
            continue;
        }
        let key: Option<&str> = rows::get(row, "concurrency_key")?;
        let crashes = rows::get::<i64>(row, "crashes")? > 1;
        let first_of_key = key.is_none_or(|key| keys.insert(key));
        let first_of_kind = !(crashes && crashed);
        crashed |= crashes;
        if first_of_key && first_of_kind {
            chosen.push((rows::get(row, "id")?, None));
        }
    }
    Ok((chosen, limited))
}

/// Leases the rows; answers in the order they were chosen.
pub(super) async fn take(
    session: &mut Session<'_>,
    order: &ClaimOrder<'_>,
    chosen: &[Chosen],
    now: i64,
) -> Result<Vec<Claim>, Error> {
    let query = sqlx::query(sql::claim_take()).bind(json(&chosen)?).bind(order.token.as_str());
    let taken = session.rows(query.bind(now.saturating_add(micros(order.lease))).bind(now)).await?;
    let taken = taken.iter().map(Taken::of).collect::<Result<Vec<_>, _>>()?;
    let may_exit: Vec<bool> = taken.iter().map(Taken::may_exit).collect();
    let mut claims = taken.into_iter().map(|t| t.into_claim(order)).collect::<Result<Vec<_>, _>>()?;
    let may_exit: Vec<i64> =
        claims.iter().zip(may_exit).filter(|(_, may)| *may).map(|((claim, _), _)| claim.id.get()).collect();
    let place: HashMap<i64, usize> = chosen.iter().enumerate().map(|(at, (id, _))| (*id, at)).collect();
    claims.sort_by_key(|(claim, _)| place.get(&claim.id.get()).copied());
    let signals = received(session, &claims).await?;
    let with_signals = |(claim, ids): (Claim, Vec<i64>)| match claim.wake {
        Wake::Signals(_) => {
            let wake = Wake::Signals(ids.iter().filter_map(|id| signals.get(id).cloned()).collect());
            Claim { wake, ..claim }
        }
        Wake::Ready | Wake::Unsatisfied => claim,
    };
    let claims = claims.into_iter().map(with_signals).collect();
    with_exits(session, claims, &may_exit).await
}

/// The signals that leave the steps of the claimed rows.
async fn with_exits(session: &mut Session<'_>, mut claims: Vec<Claim>, ids: &[i64]) -> Result<Vec<Claim>, Error> {
    if ids.is_empty() {
        return Ok(claims);
    }
    for row in session.rows(sqlx::query(sql::claim_exits()).bind(json(&ids)?)).await? {
        let (target, (_, signal)) = (InstanceId::new(rows::get(&row, "target")?), signal(&row)?);
        claims.iter_mut().filter(|c| c.id == target).for_each(|c| c.exit = Some(signal.clone()));
    }
    Ok(claims)
}

fn signal(row: &SqliteRow) -> Result<(i64, ReceivedSignal), Error> {
    let id = rows::get(row, "id")?;
    let payload = Json::stored(rows::get::<String>(row, "payload")?);
    Ok((id, ReceivedSignal { id, name: rows::get(row, "name")?, payload }))
}

async fn received(
    session: &mut Session<'_>,
    claims: &[(Claim, Vec<i64>)],
) -> Result<HashMap<i64, ReceivedSignal>, Error> {
    let ids: Vec<i64> = claims.iter().flat_map(|(_, ids)| ids).copied().collect();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let found = session.rows(sqlx::query(sql::claim_signals()).bind(json(&ids)?)).await?;
    found.iter().map(signal).collect()
}

pub(super) async fn next(
    session: &mut Session<'_>,
    queue: &str,
    now: i64,
) -> Result<(Option<i64>, Option<i64>), Error> {
    let found = session.rows(sqlx::query(sql::claim_next()).bind(queue).bind(now)).await?;
    let Some(row) = found.first() else { return Ok((None, None)) };
    Ok((rows::get(row, "due_us")?, rows::get(row, "deadline_us")?))
}
