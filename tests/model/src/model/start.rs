use gen_durable_runtime::model::{Entry, InstanceId, StartSpec, Started, Status};

use super::{Model, micros};
use crate::{Hidden, Instance, Moments, Shown, value};

const LIVE: [Status; 4] = [Status::Runnable, Status::Executing, Status::AwaitingSignal, Status::AwaitingChildren];

impl Model {
    /// One after the other: the first of two with one key has it.
    pub fn start(&mut self, starts: &[StartSpec]) -> Vec<Started> {
        starts.iter().map(|s| self.start_one(s)).collect()
    }

    fn start_one(&mut self, s: &StartSpec) -> Started {
        if let Some(occupant) = s.key.as_deref().and_then(|key| self.occupant(key)) {
            return Started::Duplicate(occupant);
        }
        self.instances_ever += 1;
        let id = InstanceId::new(self.instances_ever);
        let moments = self.first_moments(s);
        self.moments.insert(id, moments);
        self.waits.extend(s.entry.wait.clone().map(|wait| (id, wait)));
        self.instances.insert(id, Instance { shown: shown(s), hidden: hidden(s) });
        Started::New(id)
    }

    /// A delay comes before everything else; then the timer runs, or the wait.
    fn first_moments(&mut self, s: &StartSpec) -> Moments {
        let now = self.tick();
        let begin = now + micros(s.delay);
        let eligible = s.entry.timer.map_or(begin, |timer| self.at(timer, begin).max(begin));
        let deadline = s.entry.wait.as_ref().and_then(|w| w.deadline).map(|d| self.at(d, begin));
        Moments { eligible, deadline, lease: None, updated: now, inserted: now }
    }
}

fn shown(s: &StartSpec) -> Shown {
    // One that waits and is delayed lies among the runnable ones first.
    let parked = s.entry.wait.is_some() && s.delay.is_zero();
    Shown {
        machine: s.machine.into(),
        version: s.version,
        step: s.entry.step.into(),
        status: if parked { Status::AwaitingSignal } else { Status::Runnable },
        state: value(&s.entry.state),
        carry: s.carry.as_ref().map(value),
        result: None,
        error: None,
        awaits: awaits(&s.entry),
        key: s.key.clone(),
        key_kept: s.key.is_some() && s.key_kept,
        queue: s.entry.queue.or(s.queue.as_deref()).unwrap_or(s.defaults.0).into(),
        priority: s.entry.priority.or(s.priority).unwrap_or(s.defaults.1),
        home: (s.queue.clone(), s.priority),
        attempt: 0,
        crashes: 0,
        transitions: 0,
        token: None,
    }
}

fn hidden(s: &StartSpec) -> Hidden {
    let scope = match (&s.key, s.key_kept) {
        (None, _) => vec![],
        (Some(_), true) => Status::ALL.to_vec(),
        (Some(_), false) => LIVE.to_vec(),
    };
    Hidden {
        home_queue: s.queue.clone(),
        home_priority: s.priority,
        concurrency_key: s.entry.concurrency.as_ref().map(|slot| slot.key.clone()),
        scope,
        ..Hidden::default()
    }
}

/// The names a step waits for; none when it waits for nothing.
pub(super) fn awaits(entry: &Entry) -> Vec<String> {
    entry.wait.iter().flat_map(|w| w.names.iter()).map(|name| (*name).to_owned()).collect()
}
