//! Gates and rate limits: made known at boot, healed after crashes, and the floor under what wakes blocked rows.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use super::{catalog::Catalog, shared::Shared};
use crate::{
    Error,
    machine::{StepInfo, limits_of_step as of_step},
    model::admission::{LimitConfig, LimitKind},
    store::{LimitDef, Store},
};

/// How often counters are set to what really runs, and what was set aside is looked at: the floor.
const FLOOR: Duration = Duration::from_secs(5);
/// Of so many floors one sets the counters.
const HEALS: u32 = 6;
/// Keys at once.
const PIECE: u32 = 200;

/// Makes the limits of these machines known, as far as no operator says otherwise.
///
/// # Errors
/// The store's.
pub async fn define(store: &Arc<dyn Store>, catalog: &Catalog) -> Result<(), Error> {
    let limits = catalog.limits();
    if limits.is_empty() {
        return Ok(());
    }
    store.define_limits(limits, false).await.map(drop)
}

/// The limits of these machines, each once; two that differ under one name are a fault.
pub(super) fn of_steps<'s>(steps: impl Iterator<Item = &'s StepInfo>) -> (Vec<LimitDef>, Vec<String>) {
    let mut all: BTreeMap<(LimitKind, &str), LimitConfig> = BTreeMap::new();
    let mut faults = Vec::new();
    for ((kind, name), config) in steps.flat_map(of_step) {
        let Some(config) = config else { continue };
        let known = *all.entry((kind, name)).or_insert(config);
        if known != config {
            faults.push(format!(
                "two limits are stored as `{name}`, and they differ: give one a `name = \"..\"` of its own"
            ));
        }
    }
    faults.dedup();
    let def =
        |((kind, name), config): ((LimitKind, &str), LimitConfig)| LimitDef { kind, name: name.to_owned(), config };
    (all.into_iter().map(def).collect(), faults)
}

impl Shared {
    /// The floor: a process that died between giving a slot back and waking whoever waits for it woke nobody.
    pub(super) async fn keep_limits(self: Arc<Self>) {
        for round in 0_u32.. {
            if self.is_stopped() {
                return;
            }
            let healed = if round % HEALS == 0 { self.heal().await } else { Ok(()) };
            if let Err(error) = healed.and(self.wake_blocked().await) {
                tracing::debug!(%error, "the floor under limits failed, trying again");
            }
            tokio::time::sleep(FLOOR).await;
        }
    }

    /// Counters follow what really runs; then whoever waits for what came free goes on.
    pub(super) async fn heal_and_wake(&self) {
        if let Err(error) = self.heal().await.and(self.wake_blocked().await) {
            tracing::debug!(%error, "healing limits failed: left to the floor");
        }
    }

    async fn heal(&self) -> Result<(), Error> {
        for kind in [LimitKind::Gate, LimitKind::Rate] {
            let mut after = Some(String::new());
            while let Some(from) = after {
                after = self.store.heal(kind, &from, PIECE).await?;
            }
        }
        Ok(())
    }

    async fn wake_blocked(&self) -> Result<(), Error> {
        let mut after = "key:".to_owned();
        loop {
            let causes = self.store.blocked(&after, PIECE).await?;
            let keys: Vec<(String, u32)> =
                causes.iter().filter_map(|c| Some((c.strip_prefix("key:")?.to_owned(), PIECE))).collect();
            if keys.is_empty() {
                return Ok(());
            }
            self.unblock(&keys).await?;
            match causes.last() {
                Some(last) if causes.len() == PIECE as usize => after.clone_from(last),
                _ => return Ok(()),
            }
        }
    }

    async fn unblock(&self, keys: &[(String, u32)]) -> Result<(), Error> {
        let queues = self.store.unblock(keys).await?;
        queues.iter().for_each(|queue| self.waker.wake(queue));
        Ok(())
    }
}
