use gen_durable_runtime::{
    model::{InstanceId, Target},
    store::Filter,
};

use super::Model;
use crate::Shown;

impl Model {
    pub fn show(&self, target: &Target) -> Option<(InstanceId, &Shown)> {
        let id = match target {
            Target::Id(id) => Some(*id),
            Target::Key(key) => self.occupant(key),
        };
        id.and_then(|id| Some((id, &self.instances.get(&id)?.shown)))
    }

    /// A page. `rank` is the id in the store that is asked: ids are drawn by a store.
    pub fn list(&self, filter: &Filter, rank: impl Fn(InstanceId) -> i64) -> Vec<InstanceId> {
        let fits = |id: &InstanceId| {
            let s = &self.instances[id].shown;
            filter.machine.as_ref().is_none_or(|m| *m == s.machine)
                && filter.status.is_none_or(|status| status == s.status)
                && filter.queue.as_ref().is_none_or(|q| *q == s.queue)
                && filter.step.as_ref().is_none_or(|step| *step == s.step)
                && filter.before.is_none_or(|before| rank(*id) < rank(before))
        };
        let mut page: Vec<InstanceId> = self.instances.keys().copied().filter(fits).collect();
        page.sort_by_key(|id| std::cmp::Reverse(rank(*id)));
        page.truncate(if filter.limit == 0 { 100 } else { filter.limit as usize });
        page
    }
}
