//! Instances that are asked to end.

use std::collections::HashMap;

use sqlx::postgres::PgRow;

use super::{Postgres, inspect, rows};
use crate::{
    Error,
    model::{InstanceId, Target},
    store::{Cancelling, Retrying, ToldChildren, written::CHILD_REASON},
};

impl Postgres {
    pub(super) async fn cancel_all(&self, targets: &[Target], reason: &str) -> Result<Vec<Cancelling>, Error> {
        let id = |t: &Target| if let Target::Id(id) = t { Some(id.get()) } else { None };
        let key = |t: &Target| if let Target::Key(key) = t { Some(key.clone()) } else { None };
        let (ids, keys): (Vec<_>, Vec<_>) = (targets.iter().map(id).collect(), targets.iter().map(key).collect());
        let query = sqlx::query(self.statements().cancel()).bind(&ids).bind(&keys).bind(reason);
        let found = self.ask("cancelling", query).await?;
        let read = |r: &PgRow| -> Result<(i64, Cancelling), Error> {
            let (id, queue) = (InstanceId::new(rows::get(r, "id")?), rows::get(r, "queue")?);
            Ok((rows::get(r, "ord")?, Cancelling::Asked { id, queue, executing: rows::get(r, "executing")? }))
        };
        let mut asked = found.iter().map(read).collect::<Result<HashMap<i64, Cancelling>, _>>()?;
        Ok((1..).zip(targets).map(|(ord, _)| asked.remove(&ord).unwrap_or(Cancelling::NoTarget)).collect())
    }

    pub(super) async fn retry_one(&self, target: &Target) -> Result<Retrying, Error> {
        // A key that is kept after the end still addresses it.
        let Some(found) = inspect::show(self, target).await? else { return Ok(Retrying::NoTarget) };
        loop {
            match self.retry_found(found.id).await {
                // Who took its key was not committed as this looked: now it is seen, or it has ended again.
                Err(error) if error.is_conflict() => {}
                answer => return answer,
            }
        }
    }

    async fn retry_found(&self, id: InstanceId) -> Result<Retrying, Error> {
        let rows = self.ask("retrying", sqlx::query(self.statements().retry()).bind(id.get())).await?;
        let Some(row) = rows.first() else { return Ok(Retrying::NoTarget) };
        match (rows::get::<Option<String>>(row, "queue")?, rows::get::<Option<i64>>(row, "occupant")?) {
            (Some(queue), _) => Ok(Retrying::Goes { id, queue }),
            (None, Some(occupant)) => Ok(Retrying::Duplicate(InstanceId::new(occupant))),
            (None, None) => Ok(Retrying::NoTarget),
        }
    }

    pub(super) async fn cancel_some_children(
        &self,
        parent: InstanceId,
        round: Option<i64>,
        limit: u32,
    ) -> Result<ToldChildren, Error> {
        let query = sqlx::query(self.statements().cancel_children()).bind(parent.get()).bind(round);
        let found = self.ask("cancelling children", query.bind(i64::from(limit)).bind(CHILD_REASON)).await?;
        let mut told = ToldChildren::default();
        for row in &found {
            told.missed = rows::get(row, "missed")?;
            let Some(id) = rows::get::<Option<i64>>(row, "id")? else { continue };
            told.rows += 1;
            told.queues.push(rows::get(row, "queue")?);
            if rows::get(row, "executing")? {
                told.executing.push(InstanceId::new(id));
            }
        }
        told.queues.sort_unstable();
        told.queues.dedup();
        Ok(told)
    }
}
