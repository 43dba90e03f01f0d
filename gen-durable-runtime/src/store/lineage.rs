//! The instances that a batch starts, in one list.

use crate::model::{StartSpec, Transition};

/// Whose child an instance is, and its place in the fan-out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lineage {
    pub(super) parent: i64,
    pub(super) round: i64,
    pub(super) index: i32,
}

/// An instance that a transition starts.
#[derive(Debug)]
pub(super) struct Made<'a> {
    /// The position in its batch of the transition.
    pub(super) of: usize,
    pub(super) spec: &'a StartSpec,
    /// `None` when nobody waits for it.
    pub(super) lineage: Option<Lineage>,
}

/// Children and spawned instances of a batch.
pub(super) fn started<'a>(batch: &[(usize, &'a Transition)]) -> Vec<Made<'a>> {
    let mut made = Vec::new();
    for &(of, t) in batch {
        let Some(effects) = t.effects.as_deref() else { continue };
        // The parent waits with one transition more than its claim has.
        let (parent, round) = (t.id.get(), t.transitions + 1);
        let children = (0..).zip(&effects.children);
        made.extend(children.map(|(index, spec)| Made { of, spec, lineage: Some(Lineage { parent, round, index }) }));
        made.extend(effects.spawned.iter().map(|spec| Made { of, spec, lineage: None }));
    }
    made
}
