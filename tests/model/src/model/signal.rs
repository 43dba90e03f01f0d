use std::collections::BTreeSet;

use gen_durable_runtime::{
    model::{InstanceId, SignalSpec, Status, Target},
    store::{Delivered, Delivery},
};

use super::Model;
use crate::{Letter, value};

impl Model {
    /// Delivers a batch, then wakes: whoever was woken by one of the batch is named in the answer to each of its signals.
    pub fn signal(&mut self, signals: &[SignalSpec]) -> Vec<Delivery> {
        let targets: Vec<Option<InstanceId>> = signals.iter().map(|s| self.target(&s.target)).collect();
        let delivered: Vec<Delivered> = signals.iter().zip(&targets).map(|(s, t)| self.deliver(s, *t)).collect();
        let wakes = |s: &SignalSpec, d: &Delivered| match d {
            Delivered::New(id) => self.waits_for(*id, &s.name).then_some(*id),
            Delivered::Duplicate(_) | Delivered::NoTarget => None,
        };
        let woken: BTreeSet<InstanceId> = signals.iter().zip(&delivered).filter_map(|(s, d)| wakes(s, d)).collect();
        woken.iter().for_each(|id| self.wake(*id));
        delivered.into_iter().zip(&targets).map(|(d, t)| self.delivery(d, *t)).collect()
    }

    fn target(&self, target: &Target) -> Option<InstanceId> {
        let id = match target {
            Target::Id(id) => Some(*id),
            Target::Key(key) => self.occupant(key),
        };
        id.filter(|id| self.instances.get(id).is_some_and(|i| !i.shown.status.is_ended()))
    }

    fn deliver(&mut self, s: &SignalSpec, target: Option<InstanceId>) -> Delivered {
        let Some(target) = target else { return Delivered::NoTarget };
        if s.dedup.is_some() && self.letters.values().any(|l| l.target == target && l.dedup == s.dedup) {
            return Delivered::Duplicate(target);
        }
        self.signals += 1;
        let (id, payload) = (self.signals, value(&s.payload));
        let letter = Letter { id, target, name: s.name.clone(), payload, dedup: s.dedup.clone(), consumed: false };
        self.letters.insert(id, letter);
        Delivered::New(target)
    }

    fn waits_for(&self, id: InstanceId, name: &String) -> bool {
        let shown = &self.instances[&id].shown;
        shown.status == Status::AwaitingSignal && shown.awaits.contains(name) && self.has_come(id, &[])
    }

    /// Back among the runnable ones, due now.
    pub(super) fn wake(&mut self, id: InstanceId) {
        let now = self.tick();
        let (row, at) = self.row(id);
        row.shown.status = Status::Runnable;
        (at.eligible, at.updated) = (now, now);
    }

    /// One that is runnable already is named as well: a claim may have skipped it meanwhile.
    fn delivery(&self, delivered: Delivered, target: Option<InstanceId>) -> Delivery {
        let runnable = target.map(|id| &self.instances[&id].shown).filter(|s| s.status == Status::Runnable);
        Delivery { delivered, wake: runnable.map(|s| s.queue.clone()) }
    }
}
