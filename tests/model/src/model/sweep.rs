use std::collections::BTreeSet;

use gen_durable_runtime::model::{InstanceId, Status, Transition};

use super::Model;

/// What a sweep did.
#[derive(Debug)]
pub struct Sweep {
    pub rows: usize,
    pub queues: BTreeSet<String>,
    /// The next wait that ends, as a moment.
    pub next: Option<i64>,
}

impl Model {
    pub fn end_waits(&mut self, limit: u32) -> Sweep {
        let now = self.tick();
        let waits = |id: InstanceId| self.moments[&id].deadline.map(|d| (d, id));
        let parked = self.ids(Status::AwaitingSignal).chain(self.ids(Status::AwaitingChildren));
        let mut waits: Vec<(i64, InstanceId)> = parked.filter_map(waits).collect();
        waits.sort_unstable();
        let next = waits.iter().map(|(at, _)| *at).find(|at| *at > now);
        let due: Vec<InstanceId> =
            waits.into_iter().filter(|(at, _)| *at <= now).take(limit as usize).map(|(_, id)| id).collect();
        if due.iter().any(|id| self.instances[id].shown.status == Status::AwaitingChildren) {
            self.note("a join whose time is up");
        }
        let wake = |model: &mut Self, id| {
            model.wake(id);
            true
        };
        Sweep { next, ..self.sweep(due, wake) }
    }

    pub fn reap(&mut self, limit: u32) -> Sweep {
        let now = self.tick();
        let lease = |id: InstanceId| self.moments[&id].lease.map(|l| (l, id));
        let mut leases: Vec<(i64, InstanceId)> = self.ids(Status::Executing).filter_map(lease).collect();
        leases.sort_unstable();
        let lost = leases.into_iter().filter(|(at, _)| *at <= now).take(limit as usize).map(|(_, id)| id).collect();
        self.sweep(lost, Self::take_back)
    }

    /// Everything of one process: which rows a smaller limit takes is nobody's promise.
    pub fn reclaim(&mut self, owner: &str) -> Sweep {
        let lost = self.ids(Status::Executing).filter(|id| self.owner(*id) == Some(owner)).collect();
        self.sweep(lost, Self::take_back)
    }

    pub fn owners(&self) -> BTreeSet<String> {
        self.ids(Status::Executing).filter_map(|id| self.owner(id)).map(str::to_owned).collect()
    }

    fn owner(&self, id: InstanceId) -> Option<&str> {
        self.instances[&id].shown.token.as_deref().and_then(|token| token.split('#').next())
    }

    /// Forgets what is older, of so many of the oldest lines.
    pub fn forget(&mut self, age: i64, limit: u32) -> usize {
        let (now, before) = (self.tick(), self.lines.len());
        let mut at = 0;
        self.lines.retain(|(committed, _)| {
            at += 1;
            at > limit as usize || *committed >= now - age
        });
        before - self.lines.len()
    }

    /// Those that cannot come back fail, after all others: by the claim that stands on them.
    fn sweep(&mut self, ids: Vec<InstanceId>, comes_back: impl Fn(&mut Self, InstanceId) -> bool) -> Sweep {
        let displaced: Vec<InstanceId> = ids.iter().copied().filter(|id| !comes_back(self, *id)).collect();
        let mut queues: BTreeSet<String> = ids.iter().map(|id| self.instances[id].shown.queue.clone()).collect();
        let fail = |id: &InstanceId| {
            let i = &self.instances[id];
            let claim = (i.shown.token.clone().unwrap_or_default(), i.shown.transitions);
            super::commit::failure(*id, claim, super::KEY_TAKEN)
        };
        let failures: Vec<Transition> = displaced.iter().map(fail).collect();
        if !failures.is_empty() {
            self.note("one that cannot come back to its key");
            queues.extend(self.commit(&failures).wakes);
        }
        Sweep { rows: ids.len(), queues, next: None }
    }
}
