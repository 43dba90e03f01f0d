use std::{
    collections::{BTreeSet, HashSet},
    time::Duration,
};

use gen_durable_runtime::{
    model::{Claim, ClaimToken, InstanceId, Json, Parent, ReceivedSignal, Status, Wake},
    store::{ClaimOrder, Known},
};
use serde_json::Value;

use super::{Model, micros};
use crate::Instance;

/// What a claim brings.
#[derive(Debug)]
pub struct Taken {
    pub claims: Vec<Claim>,
    pub looked: usize,
    pub next_due: Option<i64>,
    pub next_deadline: Option<i64>,
}

impl Model {
    /// The first due rows are looked at; of those one a key is taken, and one that crashed twice.
    pub fn claim(&mut self, order: &ClaimOrder<'_>) -> Taken {
        let now = self.tick();
        let due = self.due(order, now);
        let (mut keys, mut crashed, mut taken) = (HashSet::new(), false, vec![]);
        for &id in &due {
            let i = &self.instances[&id];
            let free = i.hidden.concurrency_key.clone().is_none_or(|key| keys.insert(key));
            let fits = i.shown.crashes <= 1 || !crashed;
            crashed |= i.shown.crashes > 1;
            if free && fits {
                taken.push(id);
            }
        }
        let none = taken.is_empty();
        let next_due = self.next_due(order.queue, now).filter(|_| none);
        let claims: Vec<Claim> = taken.into_iter().map(|id| self.take(id, order)).collect();
        let waits = self.ids(Status::AwaitingSignal).chain(self.ids(Status::AwaitingChildren));
        let next_deadline = waits.filter_map(|id| self.moments[&id].deadline).min();
        Taken { claims, looked: due.len(), next_due, next_deadline: next_deadline.filter(|_| none) }
    }

    fn due(&self, order: &ClaimOrder<'_>, now: i64) -> Vec<InstanceId> {
        let busy: BTreeSet<_> =
            self.ids(Status::Executing).filter_map(|id| self.instances[&id].hidden.concurrency_key.clone()).collect();
        let fits = |id: &InstanceId| {
            let i = &self.instances[id];
            let free = i.hidden.concurrency_key.as_ref().is_none_or(|key| !busy.contains(key));
            let welcome = i.shown.crashes <= 1 || order.crashed;
            i.shown.queue == order.queue && self.moments[id].eligible <= now && knows(order.known, i) && free && welcome
        };
        let mut due: Vec<InstanceId> = self.ids(Status::Runnable).filter(fits).collect();
        due.sort_by_key(|id| (self.instances[id].shown.priority, self.moments[id].eligible));
        due.truncate(order.limit as usize);
        due
    }

    fn next_due(&self, queue: &str, now: i64) -> Option<i64> {
        let here = self.ids(Status::Runnable).filter(|id| self.instances[id].shown.queue == queue);
        here.map(|id| self.moments[&id].eligible).filter(|at| *at > now).min()
    }

    fn take(&mut self, id: InstanceId, order: &ClaimOrder<'_>) -> Claim {
        let now = self.tick();
        let received = self.received(id, now);
        let (row, at) = self.row(id);
        row.shown.status = Status::Executing;
        row.shown.token = Some(order.token.as_str().into());
        row.hidden.received = received;
        (at.lease, at.updated) = (Some(now + micros(order.lease)), now);
        self.claimed(id, &order.token)
    }

    fn claimed(&self, id: InstanceId, token: &ClaimToken) -> Claim {
        let Instance { shown: s, hidden: h } = self.instances[&id].clone();
        Claim {
            id,
            token: token.clone(),
            machine: s.machine,
            version: s.version,
            step: s.step,
            state: json(&s.state),
            carry: s.carry.as_ref().map(json),
            attempt: s.attempt,
            errors: h.errors,
            crashes: s.crashes,
            transitions: s.transitions,
            queue: s.queue,
            priority: s.priority,
            home_queue: h.home_queue,
            home_priority: h.home_priority,
            concurrency_key: h.concurrency_key,
            slot: None,
            holds: false,
            parent: h.parent.map(|id| Parent { id, round: h.round }),
            cancelled: false,
            expired: false,
            exit: None,
            has_children: false,
            wake: match (s.awaits.is_empty(), h.received) {
                (true, _) => Wake::Ready,
                (false, None) => Wake::Unsatisfied,
                (false, Some(ids)) => Wake::Signals(ids.iter().map(|id| self.letter(*id)).collect()),
            },
        }
    }

    fn letter(&self, id: i64) -> ReceivedSignal {
        let letter = &self.letters[&id];
        ReceivedSignal { id, name: letter.name.clone(), payload: json(&letter.payload) }
    }

    /// Those that stand no more.
    pub fn renew(&mut self, claims: &[(InstanceId, ClaimToken)], lease: Duration) -> Vec<(InstanceId, ClaimToken)> {
        claims.iter().filter(|(id, token)| !self.renew_one(*id, token, lease)).cloned().collect()
    }

    pub fn renew_one(&mut self, id: InstanceId, token: &ClaimToken, lease: Duration) -> bool {
        if !self.holds(id, token) {
            return false;
        }
        let now = self.tick();
        self.row(id).1.lease = Some(now + micros(lease));
        true
    }

    pub(super) fn holds(&self, id: InstanceId, token: &ClaimToken) -> bool {
        let ours = |i: &Instance| i.shown.token.as_deref() == Some(token.as_str());
        self.instances.get(&id).is_some_and(|i| i.shown.status == Status::Executing && ours(i))
    }
}

fn knows(known: &Known, i: &Instance) -> bool {
    let mut all = known.machines.iter().zip(&known.versions).zip(&known.steps);
    all.any(|((machine, version), step)| {
        (machine, *version, step) == (&i.shown.machine, i.shown.version, &i.shown.step)
    })
}

fn json(value: &Value) -> Json {
    Json::encode("value", value).expect("storable")
}
