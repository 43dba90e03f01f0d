//! Places of a process that its queues share by their weights.
//!
//! Each free place goes to whoever has work and runs less than its share, relative to its weight; what shares leave over in whole
//! places, and what nobody else has work for, goes round by turns, in proportion to the weights. So a queue that has work never
//! starves, also where there are fewer places than queues, and no place is idle while any queue has work for it.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

/// Places that are handed out at once.
const AT_ONCE: usize = 10_000;

/// The places, and who has them.
#[derive(Debug)]
pub(super) struct Shares {
    queues: Mutex<Queues>,
    /// Places came free, or a queue ran out of work.
    changed: Notify,
}

#[derive(Debug)]
struct Queues {
    places: usize,
    all: BTreeMap<String, Share>,
}

/// How one queue stands.
#[derive(Debug, Clone)]
struct Share {
    weight: f64,
    /// The most that it may have: its own steps at once.
    most: usize,
    running: usize,
    /// It has work, as far as anybody knows.
    hungry: bool,
    /// Its turns so far, each by the weight's part: the lowest is next.
    turns: f64,
}

/// Places of one queue; those not spent come back when it is dropped.
#[derive(Debug)]
pub(super) struct Granted {
    shares: Arc<Shares>,
    queue: String,
    places: usize,
}

impl Shares {
    /// So many places; each queue with its weight and the steps it runs at once.
    pub(super) fn new(places: usize, queues: impl Iterator<Item = (String, u32, usize)>) -> Self {
        let share = |(queue, weight, most): (String, u32, usize)| {
            (queue, Share { weight: f64::from(weight), most, running: 0, hungry: false, turns: 0.0 })
        };
        let all = queues.map(share).collect();
        Self { queues: Mutex::new(Queues { places, all }), changed: Notify::new() }
    }

    fn queues(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is a place for this queue, which has work; takes at most `wanted`.
    pub(super) async fn take(self: &Arc<Self>, queue: &str, wanted: usize) -> Granted {
        loop {
            // Listens before it looks: what changes in between is not missed.
            let changed = self.changed.notified();
            let places = self.queues().grant(queue, wanted);
            if places > 0 {
                return Granted { shares: Arc::clone(self), queue: queue.to_owned(), places };
            }
            changed.await;
        }
    }

    /// The queue has no work for now: its places are for the others.
    pub(super) fn sated(&self, queue: &str) {
        if let Some(share) = self.queues().all.get_mut(queue) {
            share.hungry = false;
        }
        self.changed.notify_waiters();
    }

    fn give_back(&self, queue: &str, places: usize) {
        if let Some(share) = self.queues().all.get_mut(queue) {
            share.running = share.running.saturating_sub(places);
        }
        self.changed.notify_waiters();
    }
}

impl Queues {
    /// Hands out the free places among all that are hungry; who asks takes what is his, and the others theirs when they ask.
    fn grant(&mut self, queue: &str, wanted: usize) -> usize {
        self.wakes_up(queue);
        let running: usize = self.all.values().map(|share| share.running).sum();
        let hungry: f64 = self.all.values().filter(|share| share.hungry).map(|share| share.weight).sum();
        let mut to_be = self.all.clone();
        let mut granted = 0;
        for _ in 0..self.places.saturating_sub(running).min(AT_ONCE) {
            let Some((next, in_turn)) = next(&to_be, self.places as f64 / hungry) else { break };
            let next = next.to_owned();
            let Some(share) = to_be.get_mut(&next) else { break };
            share.running += 1;
            share.turns += if in_turn { 1.0 / share.weight } else { 0.0 };
            if next == queue {
                granted += 1;
                if granted == wanted {
                    break;
                }
            }
        }
        if let (Some(share), Some(after)) = (self.all.get_mut(queue), to_be.get(queue)) {
            (share.running, share.turns) = (after.running, after.turns);
        }
        granted
    }

    /// Who had no work has saved no turns.
    fn wakes_up(&mut self, queue: &str) {
        let others = self.all.values().filter(|share| share.hungry).map(|share| share.turns);
        let least = others.fold(f64::INFINITY, f64::min);
        let Some(share) = self.all.get_mut(queue).filter(|share| !share.hungry) else { return };
        share.hungry = true;
        if least.is_finite() {
            share.turns = share.turns.max(least);
        }
    }
}

/// Who has the next place, and whether by turns: first whoever has less than the whole places of his share, then by turns.
fn next(all: &BTreeMap<String, Share>, places_by_weight: f64) -> Option<(&str, bool)> {
    let open = || all.iter().filter(|(_, share)| share.hungry && share.running < share.most);
    let below = open().filter(|(_, share)| (share.running as f64) < (places_by_weight * share.weight + 1e-9).floor());
    let by_share = |share: &Share| (share.running as f64 + 1.0) / share.weight;
    if let Some((queue, _)) = below.min_by(|(_, a), (_, b)| by_share(a).total_cmp(&by_share(b))) {
        return Some((queue, false));
    }
    open().min_by(|(_, a), (_, b)| a.turns.total_cmp(&b.turns)).map(|(queue, _)| (queue.as_str(), true))
}

impl Granted {
    /// How many there are.
    pub(super) fn places(&self) -> usize {
        self.places
    }

    /// One of them, for one step.
    pub(super) fn one(&mut self) -> Option<Granted> {
        self.places = self.places.checked_sub(1)?;
        Some(Self { shares: Arc::clone(&self.shares), queue: self.queue.clone(), places: 1 })
    }
}

impl Drop for Granted {
    fn drop(&mut self) {
        if self.places > 0 {
            self.shares.give_back(&self.queue, self.places);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(places: usize, queues: &[(&str, u32)]) -> Queues {
        let share = |(queue, weight): &(&str, u32)| ((*queue).to_owned(), *weight, 1_000);
        let shares = Shares::new(places, queues.iter().map(share));
        shares.queues.into_inner().expect("nobody panicked")
    }

    /// All have work: places are taken one by one by whoever's turn it is, and one comes free each time, the oldest first.
    fn starts(queues: &mut Queues, rounds: usize) -> BTreeMap<String, usize> {
        let names: Vec<String> = queues.all.keys().cloned().collect();
        names.iter().for_each(|name| queues.wakes_up(name));
        let (mut running, mut starts) = (std::collections::VecDeque::new(), BTreeMap::new());
        for _ in 0..rounds {
            for name in &names {
                for _ in 0..queues.grant(name, usize::MAX) {
                    running.push_back(name.clone());
                    *starts.entry(name.clone()).or_insert(0) += 1;
                }
            }
            let oldest = running.pop_front().expect("something runs: no place is idle");
            queues.all.get_mut(&oldest).expect("known").running -= 1;
        }
        starts
    }

    #[test]
    fn places_are_shared_by_weight_while_all_have_work() {
        let mut queues = shares(8, &[("a", 3), ("b", 1)]);
        let starts = starts(&mut queues, 1);
        assert_eq!(starts.values().copied().collect::<Vec<_>>(), [6, 2]);
    }

    #[test]
    fn a_queue_alone_has_all_places_until_another_has_work() {
        let mut queues = shares(8, &[("a", 3), ("b", 1)]);
        assert_eq!(queues.grant("b", 100), 8);
        assert_eq!(queues.grant("a", 100), 0, "none is free");
        queues.all.get_mut("b").expect("known").running -= 5;
        assert_eq!((queues.grant("b", 100), queues.grant("a", 100)), (0, 5), "b has its share and more");
        queues.all.get_mut("b").expect("known").running -= 3;
        assert_eq!((queues.grant("b", 100), queues.grant("a", 100)), (2, 1));
    }

    #[test]
    fn nobody_starves_where_there_are_fewer_places_than_queues() {
        let mut queues = shares(1, &[("a", 1), ("b", 10), ("c", 1)]);
        let starts = starts(&mut queues, 240);
        assert!((18..=22).contains(&starts["a"]) && (18..=22).contains(&starts["c"]), "{starts:?}");
        assert!((195..=205).contains(&starts["b"]), "{starts:?}");
    }

    #[test]
    fn places_that_shares_leave_over_go_round() {
        let mut queues = shares(10, &[("a", 1), ("b", 2)]);
        let starts = starts(&mut queues, 900);
        // A place above the share is had for longer by whoever has few: a little more than a third.
        assert!((295..=330).contains(&starts["a"]), "{starts:?}");
    }

    #[test]
    fn a_queue_that_was_idle_has_saved_no_turns() {
        let mut queues = shares(1, &[("a", 1), ("b", 1), ("c", 1)]);
        for _ in 0..50 {
            for name in ["a", "c"] {
                let granted = queues.grant(name, 1);
                queues.all.get_mut(name).expect("known").running -= granted;
            }
        }
        let starts = starts(&mut queues, 30);
        assert!(starts["b"] <= 11, "{starts:?}");
    }

    #[test]
    fn a_queue_takes_no_more_than_its_own_and_leaves_the_rest() {
        let mut queues = shares(8, &[("a", 3), ("b", 1)]);
        queues.all.get_mut("a").expect("known").most = 2;
        let starts = starts(&mut queues, 1);
        assert_eq!(starts.values().copied().collect::<Vec<_>>(), [2, 6]);
    }
}
