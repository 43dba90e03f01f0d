//! The claims this process holds: whom to renew, whom to tell of the end.

use std::{
    borrow::Cow,
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::sync::MutexGuard;

use crate::{
    machine::Cancel,
    model::{Claim, ClaimToken, InstanceId},
};

/// One claim in this process.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) token: ClaimToken,
    /// What it is, for the log of a drain.
    instance: String,
    step: Mutex<Cow<'static, str>>,
    /// Told to the handler: come to an end.
    pub(super) cancel: Cancel,
    /// Told to the executor: drop the handler.
    pub(super) dropped: Cancel,
    /// It is to end because its instance was cancelled.
    cancelled: AtomicBool,
    renewed: Mutex<Instant>,
    in_line: tokio::sync::Mutex<()>,
}

impl Held {
    /// Tells the handler, and drops it.
    pub(super) fn end(&self) {
        self.cancel.fire();
        self.dropped.fire();
    }

    /// Its instance was cancelled: tells the handler. Answers whether that is news.
    pub(super) fn cancel(&self) -> bool {
        self.cancel.fire();
        !self.cancelled.swap(true, Ordering::AcqRel)
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire)
    }

    /// One at a time may wait for this claim's row.
    pub(super) fn wait_in_line(&self) -> Option<MutexGuard<'_, ()>> {
        self.in_line.try_lock().ok()
    }

    /// It went on to this step in place.
    pub(super) fn goes_on(&self, step: &'static str) {
        *self.step.lock().unwrap_or_else(PoisonError::into_inner) = Cow::Borrowed(step);
    }

    /// `machine id at step`.
    pub(super) fn label(&self) -> String {
        format!("{} at {}", self.instance, self.step.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct AllHeld(Mutex<HashMap<InstanceId, Arc<Held>>>);

impl AllHeld {
    pub(super) fn add(&self, claim: &Claim, claimed: Instant) -> Arc<Held> {
        let held = Arc::new(Held {
            token: claim.token.clone(),
            instance: format!("{} {}", claim.machine, claim.id),
            step: Mutex::new(Cow::Owned(claim.step.clone())),
            cancel: Cancel::new(),
            dropped: Cancel::new(),
            cancelled: AtomicBool::new(false),
            renewed: Mutex::new(claimed),
            in_line: tokio::sync::Mutex::default(),
        });
        // A run that lost its claim to this one is over, though nobody has told it yet.
        if let Some(lost) = self.lock().insert(claim.id, Arc::clone(&held)) {
            lost.end();
        }
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

    pub(super) fn renewed<'c>(&self, claims: impl Iterator<Item = &'c (InstanceId, ClaimToken)>, at: Instant) {
        let all = self.lock();
        for held in claims.filter_map(|(id, token)| all.get(id).filter(|held| held.token == *token)) {
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
