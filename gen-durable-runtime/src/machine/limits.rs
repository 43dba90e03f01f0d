//! The limits that steps name, as their types say them.

use std::collections::BTreeMap;

use super::{MachineInfo, StepInfo, registry};
use crate::model::admission::{LimitConfig, LimitKind};

/// A limit that machines name.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedLimit {
    /// What its type allows; `None` for a concurrency key without a limit, of which one executes at a time.
    pub config: Option<LimitConfig>,
    /// The constant weights that steps take, each with the step and its machine.
    pub weights: Vec<(u32, String)>,
}

/// Limits by kind and name.
pub type NamedLimits = BTreeMap<(LimitKind, &'static str), NamedLimit>;

/// The limits of all machines linked into this program.
pub fn linked_limits() -> NamedLimits {
    limits_of(registry::machines().map(|machine| (machine.info)()))
}

/// The limits of these machines.
pub fn limits_of(machines: impl Iterator<Item = &'static MachineInfo>) -> NamedLimits {
    let mut all = NamedLimits::new();
    for info in machines {
        for step in info.steps {
            for (of, config) in limits_of_step(step) {
                let limit = all.entry(of).or_insert(NamedLimit { config, weights: vec![] });
                let weight = step.rate_limit.filter(|_| of.0 == LimitKind::Rate).and_then(|limit| limit.weight);
                limit.weights.extend(weight.map(|weight| (weight, format!("`{}` of `{}`", step.name, info.name))));
            }
        }
    }
    all
}

/// The limits of one step.
pub(crate) fn limits_of_step(
    step: &StepInfo,
) -> impl Iterator<Item = ((LimitKind, &'static str), Option<LimitConfig>)> + use<> {
    let rate = step.rate_limit.map(|limit| {
        let rate = f64::from(limit.allowed) / limit.per.as_secs_f64();
        let config = LimitConfig { capacity: f64::from(limit.burst), rate, shards: shards(limit.shards) };
        ((LimitKind::Rate, limit.name), Some(config))
    });
    let gate = step.concurrency.map(|key| {
        let of = |limit| LimitConfig { capacity: f64::from(limit), rate: 0.0, shards: shards(key.shards) };
        ((LimitKind::Gate, key.name), key.limit.map(of))
    });
    rate.into_iter().chain(gate)
}

fn shards(n: u16) -> i16 {
    i16::try_from(n).unwrap_or(i16::MAX)
}
