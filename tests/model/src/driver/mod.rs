//! The model and the stores in step: each call is asked of all, and the answers and all that stands must agree.

mod answer;
mod ask;
mod brief;
mod call;
mod names;

use std::collections::BTreeMap;

use gen_durable_runtime::{
    model::{Claim, InstanceId, Target},
    store::Filter,
};
use jiff::Timestamp;

pub use call::{Answer, Call, Steps};
use names::Names;

use crate::{Hidden, Instance, Letter, Line, Moments, Shown, database::Database, model::Model};

/// A history under way.
#[allow(missing_debug_implementations)] // a store has none
pub struct Driver<'d> {
    pub model: Model,
    stores: Vec<(&'d Database, Names)>,
    /// What was done so far, a line each.
    pub trace: Vec<String>,
}

/// What a store says that the model does not.
pub type Disagreement = String;

impl<'d> Driver<'d> {
    /// On empty databases.
    pub async fn new(databases: &'d [Database]) -> Self {
        for database in databases {
            database.reset().await;
        }
        // Whole, and a little past: no clock of a store is behind it.
        let epoch = Timestamp::from_second(Timestamp::now().as_second() - 2).expect("a moment");
        let stores = databases.iter().map(|d| (d, Names::default())).collect();
        Self { model: Model::new(epoch), stores, trace: vec![] }
    }

    /// One step, everywhere.
    ///
    /// # Errors
    /// The first store that does not agree, and where.
    pub async fn step(&mut self, call: &Call) -> Result<(Answer, Vec<Claim>), Disagreement> {
        self.trace.push(format!("{call:?}"));
        let before = self.model.moments.clone();
        let (answer, claims) = answer::answer(&mut self.model, call);
        for (database, names) in &mut self.stores {
            let asked = ask::ask(database, names, self.model.epoch, call, &answer).await;
            let theirs = asked.map_err(|e| format!("{}: {e} {e:?}", database.name()))?;
            let ours = match call {
                Call::List(filter) => &Answer::Listed(self.model.list(filter, |id| names.there(id).get())),
                _ => &answer,
            };
            same(database, "answer", ours, &theirs)?;
            stand(&self.model, &before, database, names).await?;
        }
        self.trace.last_mut().expect("this step").push_str(&format!("\n      → {answer:?}"));
        Ok((answer, claims))
    }
}

/// All that stands is the same; then the moments are set to the model's.
async fn stand(
    model: &Model,
    before: &BTreeMap<InstanceId, Moments>,
    database: &Database,
    names: &mut Names,
) -> Result<(), Disagreement> {
    let snapshots = database.store.list(&Filter::default().limit(10_000)).await.map_err(|e| e.to_string())?;
    let world = database.world().await;
    names.born(&model.instances, &snapshots);
    names.delivered(model.letters.keys().copied(), world.letters.iter().map(|l| l.id));
    let mut hidden: BTreeMap<InstanceId, Hidden> = world.instances.into_iter().collect();
    let mut instances = BTreeMap::new();
    let mut moments = BTreeMap::new();
    for s in &snapshots {
        let mut hidden = hidden.remove(&s.id).expect("a row");
        hidden.received = hidden.received.map(|ids| ids.into_iter().map(|id| names.signal_here(id)).collect());
        hidden.parent = hidden.parent.map(|id| names.here(id));
        instances.insert(names.here(s.id), Instance { shown: Shown::from(s), hidden });
        moments.insert(names.here(s.id), Moments::of(s, model.epoch));
    }
    same(database, "instances", &model.instances, &instances)?;
    let letter = |l: Letter| Letter { id: names.signal_here(l.id), target: names.here(l.target), ..l };
    let letters: Vec<Letter> = world.letters.into_iter().map(letter).collect();
    same(database, "inboxes", &model.letters.values().cloned().collect::<Vec<_>>(), &letters)?;
    let line = |l: Line| Line { instance: names.here(l.instance), ..l };
    let lines: Vec<Line> = world.lines.into_iter().map(line).collect();
    same(database, "history", &model.lines.iter().map(|(_, line)| line.clone()).collect::<Vec<_>>(), &lines)?;
    show(model, before, database, names).await?;
    pin(model, before, &moments, database, names).await
}

/// `show` tells what `list` does, of each instance that this step wrote.
async fn show(
    model: &Model,
    before: &BTreeMap<InstanceId, Moments>,
    database: &Database,
    names: &Names,
) -> Result<(), Disagreement> {
    for (id, at) in &model.moments {
        if before.get(id).map(|b| b.updated) != Some(at.updated) {
            let shown = database.store.show(&Target::Id(names.there(*id))).await.map_err(|e| e.to_string())?;
            same(database, "show", &Some(model.instances[id].shown.clone()), &shown.as_ref().map(Shown::from))?;
        }
    }
    Ok(())
}

/// A moment that the model left alone must stand to the microsecond; another may differ by what the step took.
async fn pin(
    model: &Model,
    before: &BTreeMap<InstanceId, Moments>,
    theirs: &BTreeMap<InstanceId, Moments>,
    database: &Database,
    names: &Names,
) -> Result<(), Disagreement> {
    let mut pins = vec![];
    for (id, ours) in &model.moments {
        let moments = theirs[id];
        if !ours.agrees(before.get(id), &moments) {
            let (database, early) = (database.name(), before.get(id));
            return Err(format!("{database}: moments of #{id}: model {ours:?}, store {moments:?}, before {early:?}"));
        }
        if moments != *ours {
            let at = |micros: i64| model.epoch.as_microsecond() + micros;
            pins.push(serde_json::json!({
                "id": names.there(*id), "eligible": at(ours.eligible), "deadline": ours.deadline.map(at),
                "lease": ours.lease.map(at), "updated": at(ours.updated), "inserted": at(ours.inserted),
            }));
        }
    }
    if !pins.is_empty() {
        database.pin(serde_json::Value::Array(pins).to_string()).await;
    }
    Ok(())
}

/// Two of a kind, or the lines in which they differ.
fn same<T: PartialEq + std::fmt::Debug>(database: &Database, what: &str, ours: &T, theirs: &T) -> Result<(), String> {
    if ours == theirs {
        return Ok(());
    }
    let (ours, theirs) = (format!("{ours:#?}"), format!("{theirs:#?}"));
    Err(format!("{}: {what}\n{}", database.name(), difference(&ours, &theirs)))
}

/// The middle, where two texts differ, with a few lines around it.
fn difference(ours: &str, theirs: &str) -> String {
    let (ours, theirs): (Vec<&str>, Vec<&str>) = (ours.lines().collect(), theirs.lines().collect());
    let alike = |a: &mut dyn Iterator<Item = (&&str, &&str)>| a.take_while(|(a, b)| a == b).count();
    let head = alike(&mut ours.iter().zip(&theirs));
    let tail = alike(&mut ours[head..].iter().rev().zip(theirs[head..].iter().rev()));
    let part = |lines: &[&str]| {
        let part = &lines[head.saturating_sub(8)..(lines.len() - tail + 3).min(lines.len())];
        part.iter().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
    };
    format!("  the model:\n{}\n  the store:\n{}", part(&ours), part(&theirs))
}
