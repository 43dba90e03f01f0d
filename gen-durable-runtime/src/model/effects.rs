use std::{any::Any, fmt, sync::Arc};

use super::{Charge, SignalSpec, StartSpec};

/// What an outcome does beside its own row, in the same transaction: all of it or nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Effects {
    /// Instances that the next step waits for.
    pub children: Vec<StartSpec>,
    /// Instances that nobody waits for.
    pub spawned: Vec<StartSpec>,
    /// Signals for other instances; one whose target has ended is no signal.
    pub signals: Vec<SignalSpec>,
    /// The caller's own work, in order.
    pub work: Vec<Work>,
    /// What it really used of rate limits.
    pub charges: Vec<Charge>,
}

/// The caller's own work within the transaction: what it is, only a store needs to know.
#[derive(Clone)]
pub struct Work(Arc<dyn Any + Send + Sync>);

impl Work {
    /// Of any type.
    pub fn new(work: impl Any + Send + Sync) -> Self {
        Self(Arc::new(work))
    }

    /// If it is one of these.
    pub fn of<T: Any>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }
}

impl PartialEq for Work {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Work")
    }
}

impl Effects {
    /// Whether it does nothing.
    pub fn is_empty(&self) -> bool {
        let no_rows = self.children.is_empty() && self.spawned.is_empty() && self.signals.is_empty();
        no_rows && self.work.is_empty() && self.charges.is_empty()
    }

    /// The size of its texts, about.
    pub fn bytes(&self) -> usize {
        let starts = self.children.iter().chain(&self.spawned).map(StartSpec::bytes).sum::<usize>();
        starts + self.signals.iter().map(SignalSpec::bytes).sum::<usize>()
    }
}
