//! All waits of a client, looked after by one task: a statement for many of them, no connection each.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::sync::{mpsc, oneshot, watch};

use super::{
    ear::{Ear, Heard},
    waiter::{Found, Goal, SOON, Waiter, unanswered},
};
use crate::{
    Error,
    machine::MachineInfo,
    model::InstanceId,
    store::{News, Standing, Steps, Store},
};

/// How far apart looks are: while nothing is heard, and as the floor under what is.
const APART: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(1));
/// How long a look may take: a bounded wait ends soon after its time, in an outage too.
const LOOK: Duration = Duration::from_secs(2);
/// Instances looked at in one statement.
const PIECE: usize = 1_000;
/// How long we listen on after the last wait: the next one often follows.
const LINGER: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct Waits {
    sender: mpsc::UnboundedSender<Waiter>,
    stopped: watch::Sender<bool>,
}

impl Waits {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        let (sender, inbox) = mpsc::unbounded_channel();
        let (stopped, told) = watch::channel(false);
        let looking =
            Looking { store, inbox, waiting: vec![], ear: None, hears: false, never: false, rested: Instant::now() };
        tokio::spawn(looking.run(told));
        Self { sender, stopped }
    }

    /// How the instance stands once it is as it is waited for, or at `until`; `None` when it does not exist.
    pub(super) async fn wait(
        &self,
        id: InstanceId,
        machine: &'static MachineInfo,
        goal: Goal,
        until: Option<Instant>,
    ) -> Result<Option<Found>, Error> {
        let (tell, told) = oneshot::channel();
        let waiter = Waiter { id, machine, goal, until, next: Instant::now(), every: SOON, told: false, tell };
        if *self.stopped.borrow() || self.sender.send(waiter).is_err() {
            return Err(Error::stopped());
        }
        told.await.unwrap_or_else(|_| Err(Error::stopped()))
    }

    pub(super) fn stop(&self) {
        self.stopped.send_replace(true);
    }
}

struct Looking {
    store: Arc<dyn Store>,
    inbox: mpsc::UnboundedReceiver<Waiter>,
    waiting: Vec<Waiter>,
    /// Only while somebody waits, and a little longer.
    ear: Option<(Ear, Instant)>,
    /// Nothing is missed.
    hears: bool,
    /// This store has no wake-ups.
    never: bool,
    /// Not before this moment everything is looked at again, however often a busy file changes: a fifth of the time.
    rested: Instant,
}

impl Looking {
    /// Closing drops every waiter, which tells it.
    async fn run(mut self, mut stopped: watch::Receiver<bool>) {
        tokio::select! {
            // First: the store closes next, and a look under way would say so in its own words.
            biased;
            _ = stopped.wait_for(|stopped| *stopped) => {}
            () = self.look_after() => {}
        }
    }

    async fn look_after(&mut self) {
        loop {
            let next = self.waiting.iter().map(|w| w.next).min().or(self.ear.as_ref().map(|(_, until)| *until));
            tokio::select! {
                waiter = self.inbox.recv() => match waiter {
                    Some(waiter) => self.waiting.push(waiter),
                    None => return,
                },
                heard = heard(&mut self.ear) => self.hear(heard),
                () = at(next) => {}
            }
            while let Ok(waiter) = self.inbox.try_recv() {
                self.waiting.push(waiter);
            }
            while let Some(heard) = self.ear.as_mut().and_then(|(ear, _)| ear.try_next()) {
                self.hear(heard);
            }
            self.waiting.retain(|w| !w.tell.is_closed());
            self.look().await;
            self.tend_ear();
        }
    }

    fn hear(&mut self, heard: Heard) {
        match heard {
            Heard::News(news) => {
                let mut of: HashMap<InstanceId, Vec<&News>> = HashMap::new();
                news.iter().for_each(|news| of.entry(news.id).or_default().push(news));
                for waiter in &mut self.waiting {
                    of.get(&waiter.id).into_iter().flatten().for_each(|news| waiter.hear(news));
                }
            }
            Heard::Clear => {
                self.hears = true;
                // For what was missed before.
                self.look_by(Instant::now());
            }
            Heard::Any => self.look_by(self.rested.max(Instant::now())),
            Heard::Lost => {
                self.hears = false;
                self.look_by(Instant::now() + APART.0);
            }
            Heard::Never => (self.never, self.hears) = (true, false),
        }
    }

    fn look_by(&mut self, moment: Instant) {
        self.waiting.iter_mut().for_each(|waiter| waiter.next = waiter.next.min(moment));
    }

    /// Listens as long as somebody waits, for what they wait for.
    fn tend_ear(&mut self) {
        let now = Instant::now();
        if self.waiting.is_empty() {
            if self.ear.as_ref().is_some_and(|(_, until)| *until <= now) {
                (self.ear, self.hears) = (None, false);
            }
            return;
        }
        if self.never {
            return;
        }
        let (ear, until) = self.ear.get_or_insert_with(|| (Ear::open(&self.store), now));
        *until = now + LINGER;
        let steps = self.waiting.iter().filter_map(|w| match w.goal {
            Goal::Step(name) => Some(name.to_owned()),
            Goal::End | Goal::Park => None,
        });
        let steps: std::collections::BTreeSet<String> = steps.collect();
        ear.want(if steps.is_empty() { Steps::None } else { Steps::These(steps) });
    }

    /// Looks at those whose time it is.
    async fn look(&mut self) {
        let now = Instant::now();
        let apart = if self.hears { APART.1 } else { APART.0 };
        let due = self.waiting.extract_if(.., |w| w.next <= now).collect::<Vec<_>>();
        let mut due = due.into_iter().peekable();
        while due.peek().is_some() {
            let piece: Vec<Waiter> = due.by_ref().take(PIECE).collect();
            self.waiting.extend(look_at(&*self.store, piece, apart).await);
        }
        self.rested = Instant::now() + 4 * now.elapsed();
    }
}

async fn heard(ear: &mut Option<(Ear, Instant)>) -> Heard {
    match ear {
        Some((ear, _)) => ear.next().await,
        None => std::future::pending().await,
    }
}

async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment.into()).await,
        None => std::future::pending().await,
    }
}

/// Answers with those that still wait.
async fn look_at(store: &dyn Store, piece: Vec<Waiter>, apart: Duration) -> Vec<Waiter> {
    let mut ids: Vec<InstanceId> = piece.iter().map(|w| w.id).collect();
    ids.sort_unstable();
    ids.dedup();
    match tokio::time::timeout(LOOK, store.endings(&ids)).await.unwrap_or_else(|_| Err(unanswered())) {
        Ok(found) => {
            let found: HashMap<InstanceId, Standing> = found.into_iter().map(|s| (s.id, s)).collect();
            let judge = |waiter: Waiter| {
                let standing = found.get(&waiter.id);
                waiter.judge(standing, apart)
            };
            piece.into_iter().filter_map(judge).collect()
        }
        Err(error) if error.is_transient() => piece.into_iter().filter_map(|w| w.unanswered(apart)).collect(),
        Err(error) => {
            let text = error.to_string();
            for waiter in piece {
                let error = Error::store("waiting", crate::StoreClass::Permanent, text.clone());
                let _ = waiter.tell.send(Err(error));
            }
            vec![]
        }
    }
}
