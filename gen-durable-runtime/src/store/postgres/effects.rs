//! What a batch does beside its own rows: children and spawned instances, signals, parents that are told.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::{Postgres, rows, session::Session, start::Lineage};
use crate::{
    Error, StoreClass,
    model::{Parent, SignalSpec, StartSpec, Started, Status, Target, Transition},
    store::{displaced::may_end, lineage::started},
};

/// The rows of others that a batch needs.
#[derive(Default)]
pub(super) struct Others {
    ids: BTreeSet<i64>,
    keys: BTreeSet<String>,
    /// The parents among them that wait for their children, and the round of these.
    waiting: HashMap<i64, i64>,
}

impl Others {
    pub(super) fn of(batch: &[Transition]) -> Self {
        let mut others = Self::default();
        for t in batch {
            others.ids.extend(t.parent.filter(|_| may_end(t)).map(|p| p.id.get()));
            for signal in t.effects.iter().flat_map(|e| &e.signals) {
                match &signal.target {
                    Target::Id(id) => drop(others.ids.insert(id.get())),
                    Target::Key(key) => drop(others.keys.insert(key.clone())),
                }
            }
        }
        others
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ids.is_empty() && self.keys.is_empty()
    }

    /// Whether this transition may go on: everything it needs is ours, or not there at all.
    pub(super) fn serve(&self, t: &Transition) -> bool {
        let has = |target: &Target| match target {
            Target::Id(id) => self.ids.contains(&id.get()),
            Target::Key(key) => self.keys.contains(key),
        };
        t.parent.is_none_or(|p| !may_end(t) || self.ids.contains(&p.id.get()))
            && t.effects.iter().flat_map(|e| &e.signals).all(|s| has(&s.target))
    }
}

impl Others {
    /// Whether this ends it, and its parent is ours and waits for that: then its end counts, unless one has counted before.
    pub(super) fn wait_for(&self, t: &Transition) -> bool {
        let waits = |p: Parent| p.round.is_some() && self.waiting.get(&p.id.get()).copied() == p.round;
        t.ends() && t.parent.is_some_and(waits)
    }
}

impl Postgres {
    /// Locks what a batch needs of others; answers with what is ours, or not there.
    pub(super) async fn hold_others(&self, session: &mut Session<'_>, others: &Others) -> Result<Others, Error> {
        let (ids, keys): (Vec<i64>, Vec<&str>) =
            (others.ids.iter().copied().collect(), others.keys.iter().map(String::as_str).collect());
        let query = sqlx::query(self.statements().hold_others()).bind(&ids).bind(&keys);
        let mut ours = Others::default();
        for row in session.rows(query).await? {
            let (id, round) = (rows::get::<Option<i64>>(&row, "id")?, rows::get::<Option<i64>>(&row, "round")?);
            ours.ids.extend(id);
            ours.waiting.extend(id.zip(round));
            ours.keys.extend(rows::get::<Option<String>>(&row, "key")?);
            ours.keys.extend(rows::get::<Option<String>>(&row, "absent_key")?);
        }
        Ok(ours)
    }

    /// Inserts children and spawned instances; answers with the number of children of each transition, by its position.
    pub(super) async fn insert_effects(
        &self,
        session: &mut Session<'_>,
        batch: &[(usize, &Transition)],
        wakes: &mut BTreeSet<String>,
    ) -> Result<HashMap<usize, i32>, Error> {
        let made = started(batch);
        if made.is_empty() {
            return Ok(HashMap::new());
        }
        let specs: Vec<&StartSpec> = made.iter().map(|m| m.spec).collect();
        let lineage: Vec<Option<Lineage>> = made.iter().map(|m| m.lineage).collect();
        let answers = self.start_with(session, &specs, &lineage).await?;
        let mut inserted = HashMap::new();
        for (m, answer) in made.iter().zip(&answers) {
            if matches!(answer, Started::New(_)) {
                wakes.insert(m.spec.first_queue().to_owned());
                *inserted.entry(m.of).or_insert(0) += i32::from(m.lineage.is_some());
            }
        }
        Ok(inserted)
    }

    /// Delivers the signals of what was written. Their targets are locked, so nothing waits.
    pub(super) async fn send_effects(
        &self,
        session: &mut Session<'_>,
        written: &[&Transition],
        wakes: &mut BTreeSet<String>,
    ) -> Result<(), Error> {
        let signals: Vec<SignalSpec> =
            written.iter().filter_map(|t| t.effects.as_ref()).flat_map(|e| e.signals.iter().cloned()).collect();
        if signals.is_empty() {
            return Ok(());
        }
        let delivered = self.signal_on(session, &signals).await?;
        wakes.extend(delivered.answers.into_iter().filter_map(|d| d.wake));
        Ok(())
    }

    /// Tells the parents of what has ended; `marked` are those that the commit itself marked as counted. A parent of another engine that cannot come back, because its business key
    /// was taken while it waited, fails by that, and its own parent is told.
    pub(super) async fn tell_parents(
        &self,
        session: &mut Session<'_>,
        ended: HashSet<i64>,
        marked: Vec<i64>,
        wakes: &mut BTreeSet<String>,
    ) -> Result<(), Error> {
        let (mut ended, mut marked): (Vec<i64>, Vec<i64>) = (ended.into_iter().collect(), marked);
        while !ended.is_empty() || !marked.is_empty() {
            let told = session.rows(sqlx::query(self.statements().join()).bind(&ended).bind(&marked)).await?;
            (ended, marked) = (vec![], vec![]);
            let mut above = Others::default();
            for row in &told {
                match (rows::status(row)?, rows::get::<Option<i64>>(row, "parent_id")?) {
                    (Status::Failed, Some(parent)) => {
                        ended.push(rows::get(row, "id")?);
                        above.ids.insert(parent);
                    }
                    (Status::Failed, None) => {}
                    _ => drop(wakes.insert(rows::get(row, "queue")?)),
                }
            }
            self.hold_all(session, &above).await?;
        }
        Ok(())
    }

    /// Locks these as well, or the batch is tried again: nothing waits for a row.
    async fn hold_all(&self, session: &mut Session<'_>, others: &Others) -> Result<(), Error> {
        if others.is_empty() || self.hold_others(session, others).await?.ids.is_superset(&others.ids) {
            return Ok(());
        }
        Err(Error::store("committing", StoreClass::Transient, "someone else holds a row"))
    }
}
