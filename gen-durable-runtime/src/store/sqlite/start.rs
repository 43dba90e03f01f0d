//! New instances, in our own transaction or in a caller's.

use std::collections::{HashMap, HashSet};

use sqlx::{SqliteConnection, sqlite::SqliteRow};

use super::{
    Sqlite,
    encode::{StartRow, json},
    rows,
    session::{Session, Survive},
    sql,
};
use crate::{
    Error, StoreClass,
    model::{InstanceId, StartSpec, Started},
    store::lineage::Lineage,
};

/// Rows a statement of a start.
const STARTS: usize = 1_000;

impl Sqlite {
    pub(super) async fn start_all(&self, starts: &[StartSpec]) -> Result<Vec<Started>, Error> {
        let mut session = self.writing("starting", Survive::PowerCut).await?;
        let started = self.start_on(&mut session, &others(starts)).await?;
        session.end().await?;
        Ok(started)
    }

    /// Starts within a caller's own transaction.
    pub(crate) async fn start_within(
        &self,
        connection: &mut SqliteConnection,
        starts: &[StartSpec],
    ) -> Result<Vec<Started>, Error> {
        self.start_on(&mut self.within("starting", connection), &others(starts)).await
    }

    /// Starts in whatever transaction `session` is, each with whose child it is.
    pub(super) async fn start_on(
        &self,
        session: &mut Session<'_>,
        starts: &[(&StartSpec, Option<Lineage>)],
    ) -> Result<Vec<Started>, Error> {
        let (mut last, now) = (last_id(session, "gen_durable").await?, self.now());
        let mut answers = Vec::with_capacity(starts.len());
        for piece in starts.chunks(STARTS) {
            let specs: Vec<StartRow<'_>> =
                (last + 1..).zip(piece).map(|(id, &(spec, lineage))| StartRow { id, spec, lineage }).collect();
            last = specs.last().map_or(last, |row| row.id);
            let made = session.rows(sqlx::query(sql::start()).bind(json(&specs)?).bind(now)).await?;
            let made = made.iter().map(|r| rows::get(r, "id")).collect::<Result<HashSet<i64>, _>>()?;
            let occupied = specs.iter().filter(|row| !made.contains(&row.id)).filter_map(|row| row.spec.key.as_deref());
            let occupants = occupants(session, &occupied.collect::<Vec<_>>()).await?;
            for StartRow { id, spec, .. } in &specs {
                answers.push(answer(*id, &made, spec.key.as_deref().and_then(|key| occupants.get(key)))?);
            }
        }
        Ok(answers)
    }
}

/// Nobody's children.
fn others(starts: &[StartSpec]) -> Vec<(&StartSpec, Option<Lineage>)> {
    starts.iter().map(|spec| (spec, None)).collect()
}

fn answer(id: i64, made: &HashSet<i64>, occupant: Option<&i64>) -> Result<Started, Error> {
    match (made.contains(&id), occupant) {
        (true, _) => Ok(Started::New(InstanceId::new(id))),
        (false, Some(other)) => Ok(Started::Duplicate(InstanceId::new(*other))),
        (false, None) => Err(Error::store("starting", StoreClass::Permanent, "an instance was not inserted")),
    }
}

async fn occupants(session: &mut Session<'_>, keys: &[&str]) -> Result<HashMap<String, i64>, Error> {
    if keys.is_empty() {
        return Ok(HashMap::new());
    }
    let found = session.rows(sqlx::query(sql::start_occupants()).bind(json(&keys)?)).await?;
    found.iter().map(|r: &SqliteRow| Ok((rows::get(r, "key")?, rows::get(r, "id")?))).collect()
}

/// The last id of a table. Read inside the writing transaction, so nobody else draws the next one.
pub(super) async fn last_id(session: &mut Session<'_>, table: &'static str) -> Result<i64, Error> {
    let found = session.rows(sqlx::query(sql::ids()).bind(table)).await?;
    found.first().map_or(Ok(0), |r| rows::get(r, "last"))
}
