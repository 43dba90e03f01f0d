//! A store in memory. Each call is one function from what stood before to the answer and to what stands then.

mod claim;
mod commit;
mod family;
mod purge;
mod read;
mod signal;
mod start;
mod sweep;
mod wait;

use std::collections::BTreeMap;

use gen_durable_runtime::model::{Deadline, InstanceId, Status, Wait};
use jiff::Timestamp;

pub use claim::Taken;
pub use family::{Ended, Kin, counts};
pub use sweep::Sweep;

use crate::{Instance, Letter, Line, Moments};

/// Everything that stands.
#[derive(Debug, Clone)]
pub struct Model {
    pub instances: BTreeMap<InstanceId, Instance>,
    pub moments: BTreeMap<InstanceId, Moments>,
    /// By id, in order of arrival.
    pub letters: BTreeMap<i64, Letter>,
    /// The history, oldest first, each line with its moment.
    pub lines: Vec<(i64, Line)>,
    /// What the stores call moment 0.
    pub epoch: Timestamp,
    /// What came to pass, counted.
    pub seen: BTreeMap<&'static str, u32>,
    waits: BTreeMap<InstanceId, Wait>,
    quorums: BTreeMap<InstanceId, i64>,
    clock: i64,
    /// Ids never come back.
    instances_ever: i64,
    signals: i64,
}

impl Model {
    pub fn new(epoch: Timestamp) -> Self {
        Self {
            instances: BTreeMap::new(),
            moments: BTreeMap::new(),
            letters: BTreeMap::new(),
            lines: vec![],
            epoch,
            seen: BTreeMap::new(),
            waits: BTreeMap::new(),
            quorums: BTreeMap::new(),
            clock: 0,
            instances_ever: 0,
            signals: 0,
        }
    }

    fn note(&mut self, what: &'static str) {
        *self.seen.entry(what).or_default() += 1;
    }

    /// A new moment, later than all before: no two rows written are equally old.
    fn tick(&mut self) -> i64 {
        self.clock += 1;
        self.clock
    }

    /// The moment that the next row is written at.
    pub fn next_tick(&self) -> i64 {
        self.clock + 1
    }

    /// Time passes: whatever was set for a moment is so much nearer.
    pub fn shift(&mut self, micros: i64) {
        for at in self.moments.values_mut() {
            at.eligible -= micros;
            at.deadline = at.deadline.map(|d| d - micros);
            at.lease = at.lease.map(|l| l - micros);
            at.updated -= micros;
        }
        self.lines.iter_mut().for_each(|(at, _)| *at -= micros);
    }

    fn at(&self, deadline: Deadline, now: i64) -> i64 {
        match deadline {
            Deadline::After(after) => now + micros(after),
            Deadline::At(at) => at.as_microsecond() - self.epoch.as_microsecond(),
        }
    }

    fn row(&mut self, id: InstanceId) -> (&mut Instance, &mut Moments) {
        (self.instances.get_mut(&id).expect("an instance"), self.moments.get_mut(&id).expect("its moments"))
    }

    fn ids(&self, status: Status) -> impl Iterator<Item = InstanceId> {
        self.instances.iter().filter(move |(_, i)| i.shown.status == status).map(|(id, _)| *id)
    }

    /// Whoever occupies a business key.
    fn occupant(&self, key: &str) -> Option<InstanceId> {
        let occupies = |i: &Instance| i.shown.key.as_deref() == Some(key) && i.hidden.scope.contains(&i.shown.status);
        self.instances.iter().find(|(_, i)| occupies(i)).map(|(id, _)| *id)
    }

    /// Sent back to the runnable ones, its claim not ended by an outcome; or not, when it gave its key up while it
    /// executed and somebody else has it by now: it fails.
    fn take_back(&mut self, id: InstanceId) -> bool {
        let now = self.tick();
        if self.key_taken(id) {
            return false;
        }
        let (row, at) = self.row(id);
        row.shown.status = Status::Runnable;
        row.shown.crashes += 1;
        (at.lease, at.updated) = (None, now);
        true
    }

    fn key_taken(&self, id: InstanceId) -> bool {
        let i = &self.instances[&id];
        let returns = i.hidden.scope.contains(&Status::Runnable) && !i.hidden.scope.contains(&i.shown.status);
        returns && i.shown.key.as_deref().is_some_and(|key| self.occupant(key).is_some())
    }
}

/// Why it fails.
const KEY_TAKEN: &str = "its business key has a newer occupant";

/// Model time.
pub fn micros(duration: std::time::Duration) -> i64 {
    i64::try_from(duration.as_micros()).expect("within 100 years")
}
