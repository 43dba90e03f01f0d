//! What a batch does beside its own rows: children and spawned instances, signals, parents that are told.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::{Sqlite, encode::json, rows, session::Session, sql};
use crate::{
    Error,
    model::{SignalSpec, Started, Transition},
    store::lineage::started,
};

impl Sqlite {
    /// Inserts children and spawned instances of what passes its fence; answers with the number of children of each
    /// transition, by its position in the batch.
    pub(super) async fn insert_effects(
        &self,
        session: &mut Session<'_>,
        batch: &[Transition],
        wakes: &mut BTreeSet<String>,
    ) -> Result<HashMap<usize, i32>, Error> {
        let with: Vec<(usize, &Transition)> = batch.iter().enumerate().filter(|(_, t)| t.effects.is_some()).collect();
        if with.is_empty() {
            return Ok(HashMap::new());
        }
        let standing = standing(session, &with).await?;
        let with: Vec<(usize, &Transition)> =
            (0..).zip(with).filter(|(at, _)| standing.contains(at)).map(|w| w.1).collect();
        for work in with.iter().filter_map(|(_, t)| t.effects.as_ref()).flat_map(|e| &e.work) {
            session.work(work).await?;
        }
        let made = started(&with);
        let specs: Vec<_> = made.iter().map(|m| (m.spec, m.lineage)).collect();
        let answers = if specs.is_empty() { vec![] } else { self.start_on(session, &specs).await? };
        let mut inserted = HashMap::new();
        for (m, answer) in made.iter().zip(&answers) {
            if matches!(answer, Started::New(_)) {
                wakes.insert(m.spec.first_queue().to_owned());
                *inserted.entry(m.of).or_insert(0) += i32::from(m.lineage.is_some());
            }
        }
        Ok(inserted)
    }

    /// Delivers the signals of what was written.
    pub(super) async fn send_effects(
        &self,
        session: &mut Session<'_>,
        written: &[&Transition],
        wakes: &mut BTreeSet<String>,
    ) -> Result<(), Error> {
        let signals: Vec<SignalSpec> =
            written.iter().filter_map(|t| t.effects.as_ref()).flat_map(|e| e.signals.iter().cloned()).collect();
        if !signals.is_empty() {
            let delivered = self.signal_on(session, &signals).await?;
            wakes.extend(delivered.into_iter().filter_map(|d| d.wake));
        }
        Ok(())
    }
}

/// The positions in `batch` of what still stands as its claim left it, and is not cancelled.
async fn standing(session: &mut Session<'_>, batch: &[(usize, &Transition)]) -> Result<HashSet<i64>, Error> {
    let fences: Vec<(i64, &str, i64)> =
        batch.iter().map(|(_, t)| (t.id.get(), t.token.as_str(), t.transitions)).collect();
    let found = session.rows(sqlx::query(sql::hold()).bind(json(&fences)?)).await?;
    let mut standing = HashSet::new();
    for row in &found {
        let at: i64 = rows::get(row, "at")?;
        let t = usize::try_from(at).ok().and_then(|at| batch.get(at)).map(|(_, t)| t);
        if !rows::get::<bool>(row, "cancelled")? || t.is_some_and(|t| t.cancels || t.ends()) {
            standing.insert(at);
        }
    }
    Ok(standing)
}

/// Tells the parents of what has ended. A parent of another engine that cannot come back, because its business key was
/// taken while it waited, fails by that, and its own parent is told.
pub(super) async fn tell_parents(
    session: &mut Session<'_>,
    mut ended: HashSet<i64>,
    now: i64,
    wakes: &mut BTreeSet<String>,
) -> Result<(), Error> {
    while !ended.is_empty() {
        let children = json(&ended)?;
        let found = session.rows(sqlx::query(sql::join()).bind(&children).bind(now)).await?;
        ended.clear();
        let mut told: Vec<(i64, i64)> = Vec::new();
        for row in &found {
            let id = rows::get(row, "id")?;
            told.push((id, rows::get(row, "transitions")?));
            match rows::get(row, "status")? {
                "runnable" => drop(wakes.insert(rows::get(row, "queue")?)),
                "failed" if rows::get::<Option<i64>>(row, "parent_id")?.is_some() => drop(ended.insert(id)),
                _ => {}
            }
        }
        session.rows(sqlx::query(sql::join_counted()).bind(&children).bind(json(&told)?)).await?;
    }
    Ok(())
}
