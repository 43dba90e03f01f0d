//! Who waits, in any process, for what becomes of instances: waiting clients greet, and nothing is told without them.

use std::{
    collections::HashMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use super::said::{Became, News, Said, Steps};
use crate::model::{Change, Committed, Transition};

/// How long a greeting counts: clients greet each 10 s, and one that died is forgotten.
const FOR: Duration = Duration::from_secs(30);

#[derive(Debug, Default)]
pub(super) struct Audience {
    /// So that a commit that nobody waits for looks no further.
    some: AtomicBool,
    clients: Mutex<HashMap<String, (Instant, Steps)>>,
}

impl Audience {
    pub(super) fn hear(&self, said: Said) {
        match said {
            Said::Hello(client, steps) => {
                self.clients().insert(client, (Instant::now(), steps));
                self.some.store(true, Ordering::Release);
            }
            Said::Bye(client) => drop(self.clients().remove(&client)),
            Said::Ping(_) | Said::News(_) | Said::Look | Said::Cancel(_) | Said::Schedules | Said::Queues => {}
        }
    }

    /// What a commit has to tell.
    pub(super) fn news(&self, transitions: &[Transition], committed: &[Committed]) -> Vec<News> {
        if !self.some.load(Ordering::Acquire) {
            return vec![];
        }
        let mut clients = self.clients();
        clients.retain(|_, (at, _)| at.elapsed() < FOR);
        // Under the lock, as a greeting sets it after it: none is lost.
        self.some.store(!clients.is_empty(), Ordering::Release);
        if clients.is_empty() {
            return vec![];
        }
        let wanted = |step: &str| clients.values().any(|(_, steps)| steps.has(step));
        let told = transitions.iter().zip(committed).filter_map(|(transition, committed)| {
            Some(News { id: transition.id, became: became(transition, *committed, wanted)? })
        });
        told.collect()
    }

    fn clients(&self) -> MutexGuard<'_, HashMap<String, (Instant, Steps)>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What others may wait for: an end, a park, or one of the steps they named.
fn became(transition: &Transition, committed: Committed, wanted: impl Fn(&str) -> bool) -> Option<Became> {
    let step = match &transition.change {
        Change::Advance(advance) => advance.entry.step,
        _ => "",
    };
    match committed {
        Committed::Parked => Some(Became::Parked(step.to_owned())),
        Committed::Done if transition.ends() => Some(Became::Ended),
        Committed::Done | Committed::Kept | Committed::Leaves => wanted(step).then(|| Became::At(step.to_owned())),
        Committed::ClaimLost | Committed::Busy | Committed::Cancelled => None,
    }
}
