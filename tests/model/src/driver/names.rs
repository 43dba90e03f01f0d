//! Each store draws its own ids; histories speak the model's.

use std::collections::{BTreeMap, HashMap};

use gen_durable_runtime::model::{Effects, InstanceId, Parent, SignalSpec, Snapshot, Started, Target, Transition};

use crate::{Instance, Shown};

/// The ids of one store beside the model's.
#[derive(Debug, Default)]
pub(super) struct Names {
    there: HashMap<i64, i64>,
    here: HashMap<i64, i64>,
    signals_there: HashMap<i64, i64>,
    signals_here: HashMap<i64, i64>,
}

impl Names {
    /// One that the model does not know stays as it is: it must not be found.
    pub(super) fn there(&self, id: InstanceId) -> InstanceId {
        InstanceId::new(self.there.get(&id.get()).copied().unwrap_or(id.get()))
    }

    /// One that the store should not know is negative: it equals none of the model's.
    pub(super) fn here(&self, id: InstanceId) -> InstanceId {
        InstanceId::new(self.here.get(&id.get()).copied().unwrap_or(-id.get()))
    }

    pub(super) fn signal_here(&self, id: i64) -> i64 {
        self.signals_here.get(&id).copied().unwrap_or(-id)
    }

    /// The new instances of both.
    pub(super) fn started(&mut self, model: &[Started], store: &[Started]) {
        for (ours, theirs) in model.iter().zip(store) {
            if let (Started::New(ours), Started::New(theirs)) = (ours, theirs) {
                self.there.insert(ours.get(), theirs.get());
                self.here.insert(theirs.get(), ours.get());
            }
        }
    }

    /// Those that an outcome started in both: no two of them begin with the same state.
    pub(super) fn born(&mut self, model: &BTreeMap<InstanceId, Instance>, store: &[Snapshot]) {
        for new in store.iter().filter(|s| !self.here.contains_key(&s.id.get())).collect::<Vec<_>>() {
            let state = Shown::from(new).state;
            let unknown = |id: &&InstanceId| !self.there.contains_key(&id.get()) && model[id].shown.state == state;
            if let Some(id) = model.keys().find(unknown).map(|id| id.get()) {
                self.there.insert(id, new.id.get());
                self.here.insert(new.id.get(), id);
            }
        }
    }

    /// The signals of both, in order of arrival: those that are new go by their order.
    pub(super) fn delivered(&mut self, model: impl Iterator<Item = i64>, store: impl Iterator<Item = i64>) {
        let ours: Vec<i64> = model.filter(|id| !self.signals_there.contains_key(id)).collect();
        let theirs: Vec<i64> = store.filter(|id| !self.signals_here.contains_key(id)).collect();
        self.signals_there.extend(ours.iter().copied().zip(theirs.iter().copied()));
        self.signals_here.extend(theirs.into_iter().zip(ours));
    }

    pub(super) fn transition(&self, t: &Transition) -> Transition {
        let signal = |id: &i64| self.signals_there.get(id).copied().unwrap_or(*id);
        let effects = t.effects.as_deref().map(|e| {
            let signals = e.signals.iter().map(|s| self.signal(s)).collect();
            Box::new(Effects { signals, ..e.clone() })
        });
        let parent = t.parent.map(|p| Parent { id: self.there(p.id), ..p });
        Transition {
            id: self.there(t.id),
            consumed: t.consumed.iter().map(signal).collect(),
            parent,
            effects,
            ..t.clone()
        }
    }

    pub(super) fn signal(&self, s: &SignalSpec) -> SignalSpec {
        SignalSpec { target: self.target(&s.target), ..s.clone() }
    }

    pub(super) fn target(&self, target: &Target) -> Target {
        match target {
            Target::Id(id) => Target::Id(self.there(*id)),
            Target::Key(key) => Target::Key(key.clone()),
        }
    }
}
