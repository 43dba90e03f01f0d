//! The claims this process holds: whom to renew, whom to tell of the end.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::{
    machine::Cancel,
    model::{Claim, ClaimToken, InstanceId},
};

/// One claim in this process.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) token: ClaimToken,
    /// What it is, for the log of a drain.
    pub(super) label: String,
    /// Told to the handler: come to an end.
    pub(super) cancel: Cancel,
    /// Told to the executor: drop the handler.
    pub(super) dropped: Cancel,
    renewed: Mutex<Instant>,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct AllHeld(Mutex<HashMap<InstanceId, Arc<Held>>>);

impl AllHeld {
    pub(super) fn add(&self, claim: &Claim, claimed: Instant) -> Arc<Held> {
        let label = format!("{} {} at {}", claim.machine, claim.id, claim.step);
        let (cancel, dropped) = (Cancel::new(), Cancel::new());
        let held = Arc::new(Held { token: claim.token.clone(), label, cancel, dropped, renewed: Mutex::new(claimed) });
        self.lock().insert(claim.id, Arc::clone(&held));
        held
    }

    /// Removes this claim, not a later one of the same instance.
    pub(super) fn remove(&self, id: InstanceId, token: &ClaimToken) {
        let mut all = self.lock();
        if all.get(&id).is_some_and(|held| held.token == *token) {
            all.remove(&id);
        }
    }

    /// The claims last renewed before `since`.
    pub(super) fn due(&self, age: Duration) -> Vec<(InstanceId, ClaimToken)> {
        let old = |held: &Held| held.renewed.lock().unwrap_or_else(PoisonError::into_inner).elapsed() >= age;
        let all = self.lock();
        all.iter().filter(|(_, held)| old(held)).map(|(id, held)| (*id, held.token.clone())).collect()
    }

    pub(super) fn renewed(&self, claims: &[(InstanceId, ClaimToken)], at: Instant) {
        let all = self.lock();
        for held in claims.iter().filter_map(|(id, _)| all.get(id)) {
            *held.renewed.lock().unwrap_or_else(PoisonError::into_inner) = at;
        }
    }

    pub(super) fn get(&self, id: InstanceId) -> Option<Arc<Held>> {
        self.lock().get(&id).cloned()
    }

    pub(super) fn all(&self) -> Vec<Arc<Held>> {
        self.lock().values().cloned().collect()
    }

    pub(super) fn count(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<InstanceId, Arc<Held>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
