//! A store in memory. Each call is one function from what stood before to the answer and to what stands then.

mod claim;
mod commit;
mod read;
mod signal;
mod start;
mod sweep;

use std::collections::BTreeMap;

use gen_durable_runtime::model::{Deadline, InstanceId, Status};
use jiff::Timestamp;

pub use claim::Taken;
pub use sweep::Sweep;

use crate::{Instance, Letter, Moments};

/// Everything that stands.
#[derive(Debug, Clone)]
pub struct Model {
    pub instances: BTreeMap<InstanceId, Instance>,
    pub moments: BTreeMap<InstanceId, Moments>,
    /// By id, in order of arrival.
    pub letters: BTreeMap<i64, Letter>,
    /// What the stores call moment 0.
    pub epoch: Timestamp,
    clock: i64,
    signals: i64,
}

impl Model {
    pub fn new(epoch: Timestamp) -> Self {
        let (instances, moments, letters) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { instances, moments, letters, epoch, clock: 0, signals: 0 }
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
        }
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

    /// The oldest signal in its inbox with one of these names, those in `gone` left out.
    fn oldest(&self, id: InstanceId, names: &[String], gone: &[i64]) -> Option<i64> {
        let fits = |l: &&Letter| l.target == id && !l.consumed && names.contains(&l.name) && !gone.contains(&l.id);
        self.letters.values().find(fits).map(|l| l.id)
    }

    /// Sent back to the runnable ones, its claim not ended by an outcome; or failed, when it gave its key up while it
    /// executed and somebody else has it by now.
    fn take_back(&mut self, id: InstanceId) {
        let now = self.tick();
        let taken = self.key_taken(id);
        let (row, at) = self.row(id);
        row.shown.status = if taken { Status::Failed } else { Status::Runnable };
        if taken {
            row.shown.error = Some(KEY_TAKEN.into());
        }
        row.shown.crashes += 1;
        (at.lease, at.updated) = (None, now);
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
