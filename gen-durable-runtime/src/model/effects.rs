use super::{Json, SignalSpec, StartSpec};

/// What an outcome does beside its own row, in the same transaction: all of it or nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Effects {
    /// Instances that the next step waits for.
    pub children: Vec<StartSpec>,
    /// Instances that nobody waits for.
    pub spawned: Vec<StartSpec>,
    /// Signals for other instances; one whose target has ended is no signal.
    pub signals: Vec<SignalSpec>,
}

impl Effects {
    /// Whether it does nothing.
    pub fn is_empty(&self) -> bool {
        self.children.is_empty() && self.spawned.is_empty() && self.signals.is_empty()
    }

    /// The size of its texts, about.
    pub fn bytes(&self) -> usize {
        let of = |json: &Json| json.as_str().len() + 200;
        let starts = self.children.iter().chain(&self.spawned).map(|s| of(&s.entry.state)).sum::<usize>();
        starts + self.signals.iter().map(|s| of(&s.payload)).sum::<usize>()
    }
}
