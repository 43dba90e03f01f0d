use std::collections::{BTreeMap, BTreeSet};

use gen_durable_runtime::model::{AwaitMode, InstanceId, Wait};

use super::Model;

impl Model {
    /// The signals in its inbox that it waits for, oldest first, each with its group; those in `gone` left out.
    fn fitting(&self, id: InstanceId, gone: &[i64]) -> Vec<(i16, i64)> {
        let Some(Wait { names, groups, .. }) = self.waits.get(&id) else { return vec![] };
        let inbox = self.letters.values().filter(|l| l.target == id && !l.consumed && !gone.contains(&l.id));
        let group = |name: &str| names.iter().position(|n| *n == name).map(|at| groups[at]);
        inbox.filter_map(|l| Some((group(&l.name)?, l.id))).collect()
    }

    /// Whether all has come that ends its wait.
    pub(super) fn has_come(&self, id: InstanceId, gone: &[i64]) -> bool {
        let (fitting, wait) = (self.fitting(id, gone), &self.waits[&id]);
        let count = match wait.mode {
            AwaitMode::All => fitting.iter().map(|(group, _)| group).collect::<BTreeSet<_>>().len(),
            AwaitMode::Any | AwaitMode::AnyBiased | AwaitMode::Count(_) => fitting.len(),
        };
        count >= usize::try_from(wait.need()).expect("a count")
    }

    /// What ended the wait is settled once: all that it waits for, or what has come when its time is up.
    pub(super) fn received(&mut self, id: InstanceId, now: i64) -> Option<Vec<i64>> {
        let i = &self.instances[&id];
        if i.shown.awaits.is_empty() || i.hidden.received.is_some() {
            return i.hidden.received.clone();
        }
        let chosen = self.chosen(id);
        if self.has_come(id, &[]) {
            return Some(chosen);
        }
        let is_up = self.moments[&id].deadline.is_some_and(|d| d <= now);
        if is_up && !chosen.is_empty() {
            self.note("a deadline that hands over a part");
        }
        is_up.then_some(chosen)
    }

    /// Of what fits: the oldest, the most preferred, the oldest of each, or the oldest ones.
    fn chosen(&self, id: InstanceId) -> Vec<i64> {
        let fitting = self.fitting(id, &[]);
        let mut chosen: Vec<i64> = match self.waits[&id].mode {
            AwaitMode::Any => fitting.iter().map(|(_, id)| *id).take(1).collect(),
            AwaitMode::AnyBiased => fitting.iter().min().map(|(_, id)| *id).into_iter().collect(),
            AwaitMode::All => {
                // The oldest of a group is put in last.
                fitting.iter().rev().copied().collect::<BTreeMap<i16, i64>>().into_values().collect()
            }
            AwaitMode::Count(n) => fitting.iter().map(|(_, id)| *id).take(n as usize).collect(),
        };
        chosen.sort_unstable();
        chosen
    }
}
