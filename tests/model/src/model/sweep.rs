use std::collections::BTreeSet;

use gen_durable_runtime::model::{InstanceId, Status};

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
        let mut waits: Vec<(i64, InstanceId)> = self.ids(Status::AwaitingSignal).filter_map(waits).collect();
        waits.sort_unstable();
        let next = waits.iter().map(|(at, _)| *at).find(|at| *at > now);
        let due = waits.into_iter().filter(|(at, _)| *at <= now).take(limit as usize).map(|(_, id)| id).collect();
        Sweep { next, ..self.sweep(due, Self::wake) }
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

    fn sweep(&mut self, ids: Vec<InstanceId>, each: impl Fn(&mut Self, InstanceId)) -> Sweep {
        ids.iter().for_each(|id| each(self, *id));
        let queues = ids.iter().map(|id| self.instances[id].shown.queue.clone()).collect();
        Sweep { rows: ids.len(), queues, next: None }
    }
}
