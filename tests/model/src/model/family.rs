use std::collections::{BTreeMap, BTreeSet};

use gen_durable_runtime::model::{InstanceId, SignalSpec, StartSpec, Started, Status, Transition};

use super::Model;

/// A child that has ended, as a page tells it: its place, and its result or why it failed.
pub type Ended = (InstanceId, i64, Result<serde_json::Value, String>);

/// A child as it stands.
pub type Kin = (InstanceId, String, Status, Option<i64>, Option<i64>);

/// Of these children: started, done, failed.
pub fn counts(kin: &[Kin]) -> [u64; 3] {
    let of = |status| kin.iter().filter(|child| child.2 == status).count() as u64;
    [kin.len() as u64, of(Status::Done), of(Status::Failed)]
}

impl Model {
    /// Starts children and others of what passed its fence; answers with the children of each transition.
    pub(super) fn beget(&mut self, landed: &[&Transition], wakes: &mut BTreeSet<String>) -> Vec<i64> {
        let mut children = vec![];
        for t in landed {
            let (mut new, round) = (0, t.transitions + 1);
            let effects = t.effects.as_deref();
            for (place, spec) in (0..).zip(effects.iter().flat_map(|e| &e.children)) {
                new += i64::from(self.born(spec, Some((t.id, round, place)), wakes));
            }
            for spec in effects.iter().flat_map(|e| &e.spawned) {
                self.born(spec, None, wakes);
            }
            children.push(new);
        }
        children
    }

    /// Whether it is a new one.
    fn born(&mut self, spec: &StartSpec, of: Option<(InstanceId, i64, i64)>, wakes: &mut BTreeSet<String>) -> bool {
        let Started::New(id) = self.start(std::slice::from_ref(spec))[0] else {
            self.note("a child or a spawned one that stands already");
            return false;
        };
        wakes.insert(spec.first_queue().to_owned());
        if let Some((parent, round, place)) = of {
            let hidden = &mut self.row(id).0.hidden;
            (hidden.parent, hidden.round, hidden.place) = (Some(parent), Some(round), Some(place));
        } else {
            self.note("spawned");
        }
        true
    }

    /// Sends the signals of what was written.
    pub(super) fn tell_others(&mut self, landed: &[&Transition], wakes: &mut BTreeSet<String>) {
        let signals: Vec<SignalSpec> =
            landed.iter().filter_map(|t| t.effects.as_ref()).flat_map(|e| e.signals.iter().cloned()).collect();
        wakes.extend(self.signal(&signals).into_iter().filter_map(|d| d.wake));
    }

    /// Counts what has ended with the parents that wait for it, and wakes those that wait no longer.
    pub(super) fn tell_parents(&mut self, landed: &[&Transition], wakes: &mut BTreeSet<String>) {
        let mut told: BTreeMap<InstanceId, (i64, i64)> = BTreeMap::new();
        for t in landed.iter().filter(|t| t.ends()) {
            let child = &self.instances[&t.id];
            let Some(parent) = child.hidden.parent else { continue };
            let waiting = &self.instances[&parent].shown;
            let waits = waiting.status == Status::AwaitingChildren && child.hidden.round == Some(waiting.transitions);
            if !waits {
                self.note("a child that nobody waits for any more");
                continue;
            }
            let entry = told.entry(parent).or_default();
            *entry = (entry.0 + 1, entry.1 + i64::from(child.shown.status == Status::Done));
            self.row(t.id).0.hidden.counted = true;
        }
        for (parent, (ended, done)) in told {
            self.count(parent, ended, done);
            let shown = &self.instances[&parent].shown;
            if shown.status == Status::Runnable {
                wakes.insert(shown.queue.clone());
            }
        }
    }

    fn count(&mut self, parent: InstanceId, ended: i64, done: i64) {
        let (now, quorum) = (self.tick(), self.quorums.get(&parent).copied());
        let (row, at) = self.row(parent);
        let h = &mut row.hidden;
        (h.pending, h.ended_well, at.updated) = (h.pending - ended, h.ended_well + done, now);
        assert!(h.pending >= 0, "more ended than were waited for");
        let why = match quorum {
            _ if h.pending == 0 => "all children of a join have ended",
            Some(quorum) if h.ended_well >= quorum => "a quorum is there",
            Some(quorum) if h.ended_well + h.pending < quorum => "a quorum is out of reach",
            Some(_) | None => return,
        };
        (row.shown.status, at.eligible) = (Status::Runnable, now);
        self.note(why);
    }

    fn children_of(&self, parent: InstanceId, round: i64) -> impl Iterator<Item = (InstanceId, &crate::Instance)> {
        let of = move |i: &&crate::Instance| i.hidden.parent == Some(parent) && i.hidden.round == Some(round);
        self.instances.iter().map(|(id, i)| (*id, i)).filter(move |(_, i)| of(i))
    }

    /// Started, done and failed of each machine: as the parent counted them.
    pub fn child_counts(&self, parent: InstanceId, round: i64) -> BTreeMap<String, [u64; 3]> {
        let mut counts: BTreeMap<String, [u64; 3]> = BTreeMap::new();
        for (_, i) in self.children_of(parent, round) {
            let entry = counts.entry(i.shown.machine.clone()).or_default();
            let counted = |status| u64::from(i.hidden.counted && i.shown.status == status);
            *entry = [entry[0] + 1, entry[1] + counted(Status::Done), entry[2] + counted(Status::Failed)];
        }
        counts
    }

    /// Every child as it stands, of the last round or of all, in the order of rounds and places: whose machine it is, how it
    /// stands, its round and its place.
    pub fn kin(&self, parent: InstanceId, all_rounds: bool) -> Vec<Kin> {
        let of = |i: &&crate::Instance| i.hidden.parent == Some(parent);
        let last = self.instances.values().filter(of).filter_map(|i| i.hidden.round).max();
        let of = self.instances.iter().filter(|(_, i)| of(i) && (all_rounds || i.hidden.round == last));
        let read = |(id, i): (&InstanceId, &crate::Instance)| {
            (*id, i.shown.machine.clone(), i.shown.status, i.hidden.round, i.hidden.place)
        };
        let mut kin: Vec<Kin> = of.map(read).collect();
        kin.sort_by_key(|(.., round, place)| (*round, *place));
        kin
    }

    /// A page of those that it counted, in the order of the fan-out.
    pub fn children(&self, parent: InstanceId, round: i64, machines: &[&str], after: i64, limit: u32) -> Vec<Ended> {
        let counted = self.children_of(parent, round).filter(|(_, i)| {
            i.hidden.counted && machines.contains(&&*i.shown.machine) && i.hidden.place.is_some_and(|at| at > after)
        });
        let read = |(id, i): (InstanceId, &crate::Instance)| {
            let result = i.shown.result.clone().ok_or_else(|| i.shown.error.clone().unwrap_or_default());
            (id, i.hidden.place.expect("a child"), result)
        };
        let mut page: Vec<Ended> = counted.map(read).collect();
        page.sort_by_key(|(_, place, _)| *place);
        page.truncate(limit as usize);
        page
    }
}
