//! Instances that are asked to end.

use std::collections::HashMap;

use sqlx::sqlite::SqliteRow;

use super::{
    Sqlite,
    encode::json,
    inspect, rows,
    session::{Session, Survive},
    signal::addressees,
    sql,
};
use crate::{
    Error,
    model::{InstanceId, Target},
    store::{Cancelling, Retrying, ToldChildren, written::CHILD_REASON},
};

impl Sqlite {
    pub(super) async fn cancel_all(&self, targets: &[Target], reason: &str) -> Result<Vec<Cancelling>, Error> {
        let mut session = self.writing("cancelling", Survive::PowerCut).await?;
        let to = addressees(&mut session, targets.iter()).await?;
        let ids: Vec<i64> = to.iter().flatten().map(|to| to.id).collect();
        let query = sqlx::query(sql::cancel()).bind(json(&ids)?).bind(self.now()).bind(reason);
        let asked = read(&mut session, query).await?;
        session.end().await?;
        let asked: HashMap<i64, Cancelling> = asked.into_iter().collect();
        let answer = |id: i64| asked.get(&id).cloned().unwrap_or(Cancelling::NoTarget);
        Ok(to.into_iter().map(|to| to.map_or(Cancelling::NoTarget, |to| answer(to.id))).collect())
    }

    pub(super) async fn retry_one(&self, target: &Target) -> Result<Retrying, Error> {
        // A key that is kept after the end still addresses it.
        let Some(found) = inspect::show(self, target).await? else { return Ok(Retrying::NoTarget) };
        let mut session = self.writing("retrying", Survive::PowerCut).await?;
        let failed = session.rows(sqlx::query(sql::retry_occupant()).bind(found.id.get())).await?;
        let Some(failed) = failed.first() else { return Ok(Retrying::NoTarget) };
        if let Some(occupant) = rows::get::<Option<i64>>(failed, "occupant")? {
            return Ok(Retrying::Duplicate(InstanceId::new(occupant)));
        }
        let again = session.rows(sqlx::query(sql::retry()).bind(found.id.get()).bind(self.now())).await?;
        session.end().await?;
        let Some(row) = again.first() else { return Ok(Retrying::NoTarget) };
        Ok(Retrying::Goes { id: found.id, queue: rows::get(row, "queue")? })
    }

    pub(super) async fn cancel_some_children(
        &self,
        parent: InstanceId,
        round: Option<i64>,
        limit: u32,
    ) -> Result<ToldChildren, Error> {
        let mut session = self.writing("cancelling children", Survive::PowerCut).await?;
        let query = sqlx::query(sql::cancel_children()).bind(parent.get()).bind(self.now()).bind(CHILD_REASON);
        let asked = read(&mut session, query.bind(round).bind(i64::from(limit))).await?;
        session.end().await?;
        let mut told = ToldChildren { rows: asked.len(), ..ToldChildren::default() };
        for (_, child) in asked {
            let Cancelling::Asked { id, queue, executing } = child else { continue };
            told.queues.push(queue);
            told.executing.extend(executing.then_some(id));
        }
        told.queues.sort_unstable();
        told.queues.dedup();
        Ok(told)
    }
}

type Statement<'q> = sqlx::query::Query<'q, sqlx::Sqlite, sqlx::sqlite::SqliteArguments>;

async fn read(session: &mut Session<'_>, query: Statement<'_>) -> Result<Vec<(i64, Cancelling)>, Error> {
    let found = session.rows(query).await?;
    let read = |r: &SqliteRow| -> Result<(i64, Cancelling), Error> {
        let id: i64 = rows::get(r, "id")?;
        let (queue, executing) = (rows::get(r, "queue")?, rows::get(r, "executing")?);
        Ok((id, Cancelling::Asked { id: InstanceId::new(id), queue, executing }))
    };
    found.iter().map(read).collect()
}
