//! Claims and leases.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    time::Duration,
};

use sqlx::Row;

use super::{Postgres, rows};
use crate::{
    Error,
    model::{Claim, ClaimToken, InstanceId},
    store::{ClaimOrder, Claimed, Renewed, workers::CROWD},
};

impl Postgres {
    pub(super) async fn claim_rows(&self, order: &ClaimOrder<'_>) -> Result<Claimed, Error> {
        let query = sqlx::query(self.statements().claim())
            .bind(order.queue)
            .bind(i64::from(order.limit))
            .bind(&order.known.machines)
            .bind(&order.known.versions)
            .bind(&order.known.steps)
            .bind(order.crashed)
            .bind(order.token.as_str())
            .bind(rows::micros(order.lease))
            .bind(&order.known.timed)
            .bind(order.look);
        let rows = self.ask("claiming", query).await?;
        // There is always a row: it carries the time.
        let Some(first) = rows.first() else { return Err(rows::unreadable("now_us")) };
        let now = rows::timestamp(rows::get(first, "now_us")?);
        let next_due = rows::get::<Option<i64>>(first, "due_us")?.map(rows::timestamp);
        let next_deadline = rows::get::<Option<i64>>(first, "deadline_us")?.map(rows::timestamp);
        let taken = rows.iter().filter(|r| r.try_get::<i64, _>("id").is_ok());
        let claims = taken.map(|r| rows::claim(r, &order.token, order.queue)).collect::<Result<Vec<Claim>, _>>()?;
        let looked = usize::try_from(rows::get::<i64>(first, "looked")?).unwrap_or(0);
        let crowd = rows::get::<Option<i64>>(first, "crowd")?.unwrap_or(0);
        let limited = rows::get::<i64>(first, "limited")? > 0 || crowd >= i64::from(CROWD);
        let strangers = rows::get::<Option<i64>>(first, "strangers")?.unwrap_or(0) >= i64::from(CROWD);
        Ok(Claimed { claims, looked, limited, strangers, wakes: BTreeSet::new(), now, next_due, next_deadline })
    }

    /// A claim that the statement did not return is lost, unless its row is only locked by someone else.
    pub(super) async fn renew_leases(
        &self,
        claims: &[(InstanceId, ClaimToken)],
        lease: Duration,
    ) -> Result<Renewed, Error> {
        let ids: Vec<i64> = claims.iter().map(|(id, _)| id.get()).collect();
        let tokens: Vec<&str> = claims.iter().map(|(_, token)| token.as_str()).collect();
        let mut session = self.session("renewing leases").await?;
        let query = sqlx::query(self.statements().renew()).bind(&ids).bind(&tokens).bind(rows::micros(lease));
        let renewed = session.rows(query).await?;
        let cancelled = renewed.iter().filter(|r| rows::get(r, "cancelled").unwrap_or(false));
        let cancelled = cancelled.map(|r| Ok(InstanceId::new(rows::get(r, "id")?))).collect::<Result<_, Error>>()?;
        let renewed = renewed.iter().map(|r| rows::get(r, "id")).collect::<Result<HashSet<i64>, _>>()?;
        let missing: Vec<i64> = ids.iter().copied().filter(|id| !renewed.contains(id)).collect();
        let standing = if missing.is_empty() { HashMap::new() } else { self.stand(&mut session, &missing).await? };
        session.end().await?;
        let ours = |id: &InstanceId, token: &ClaimToken| {
            standing.get(&id.get()).is_some_and(|s| s.executing && s.token.as_deref() == Some(token.as_str()))
        };
        let missing = claims.iter().filter(|(id, _)| !renewed.contains(&id.get())).cloned();
        let (busy, lost) = missing.partition(|(id, token)| ours(id, token));
        Ok(Renewed { busy, lost, cancelled })
    }

    pub(super) async fn renew_one_lease(
        &self,
        id: InstanceId,
        token: &ClaimToken,
        lease: Duration,
    ) -> Result<bool, Error> {
        let query = sqlx::query(self.statements().renew_one()).bind(id.get()).bind(token.as_str());
        let renewed = self.ask("renewing a lease", query.bind(rows::micros(lease))).await?;
        Ok(!renewed.is_empty())
    }
}
