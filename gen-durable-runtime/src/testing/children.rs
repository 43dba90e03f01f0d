//! The children that a test gives to a join step.

use std::collections::HashMap;

use crate::{
    machine::{ChildCounts, ChildResult, ChildSource, Machine, MachineInfo, PageFuture},
    model::{InstanceId, Json},
};

/// All of one round, by the stored name of their machine.
#[derive(Debug, Default)]
pub(super) struct Given {
    by_machine: HashMap<&'static str, Vec<ChildResult>>,
    /// Places that were given.
    places: u32,
    /// Started, and not ended.
    open: HashMap<&'static str, u64>,
}

impl Given {
    pub(super) fn ended<C: Machine>(&mut self, result: Result<Json, String>) {
        let (id, index) = (InstanceId::new(1_000 + i64::from(self.places)), self.places);
        self.places += 1;
        self.by_machine.entry(C::NAME).or_default().push(ChildResult { id, index, result });
    }

    pub(super) fn open<C: Machine>(&mut self, children: u64) {
        *self.open.entry(C::NAME).or_default() += children;
    }

    fn of(&self, machine: &'static MachineInfo) -> &[ChildResult] {
        self.by_machine.get(machine.name).map_or(&[], Vec::as_slice)
    }
}

impl ChildSource for Given {
    fn counts(&self, machine: &'static MachineInfo) -> ChildCounts {
        let ended = self.of(machine);
        let of = |is_ok: bool| ended.iter().filter(|child| child.result.is_ok() == is_ok).count() as u64;
        let open = self.open.get(machine.name).copied().unwrap_or(0);
        ChildCounts::new(of(true) + of(false) + open, of(true), of(false))
    }

    fn page(&self, machine: &'static MachineInfo, after: i64) -> PageFuture {
        let page = self.of(machine).iter().filter(|child| i64::from(child.index) > after).cloned().collect();
        Box::pin(std::future::ready(Ok(page)))
    }
}
