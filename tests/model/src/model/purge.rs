use std::collections::BTreeSet;

use gen_durable_runtime::{
    model::{InstanceId, Status},
    store::Ended,
};

use super::Model;

impl Model {
    /// A piece of which nothing is too much; answers with how many went, and what made way.
    pub fn purge(&mut self, age: i64, ended: &[Ended]) -> (usize, usize) {
        let before = self.tick() - age;
        let old = self.instances.iter().filter(|(id, i)| {
            let s = &i.shown;
            let is_named = |e: &&Ended| e.machine == s.machine && e.version == s.version && e.status == s.status;
            s.status.is_ended() && self.moments[id].updated < before && ended.iter().any(|e| is_named(&e))
        });
        let old: BTreeSet<InstanceId> = old.map(|(id, _)| *id).collect();
        let parents = |id: &InstanceId| self.instances[id].hidden.parent;
        let may_go = |id: &&InstanceId| parents(id).is_none_or(|p| self.instances[&p].shown.status == Status::Done);
        let due: BTreeSet<InstanceId> = old.iter().filter(may_go).copied().collect();
        if due.len() < old.len() {
            self.note("a child that stays for its parent");
        }
        (due.len(), self.clear(&due))
    }

    fn clear(&mut self, due: &BTreeSet<InstanceId>) -> usize {
        let lines = self.lines.len();
        self.lines.retain(|(_, line)| !due.contains(&line.instance));
        self.instances.retain(|id, _| !due.contains(id));
        self.moments.retain(|id, _| !due.contains(id));
        self.letters.retain(|_, letter| !due.contains(&letter.target));
        let mut orphans = 0;
        for i in self.instances.values_mut().filter(|i| i.hidden.parent.is_some_and(|p| due.contains(&p))) {
            i.hidden.parent = None;
            orphans += 1;
        }
        if orphans > 0 {
            self.note("a child that outlives its parent");
        }
        lines - self.lines.len() + orphans
    }
}
