//! Makes outcomes durable. While one commit is under way the next batch gathers; there is no fixed delay.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use tokio::sync::{mpsc, oneshot};

use super::{backoff::Backoff, waker::Waker};
use crate::{
    Error,
    model::{Committed, Transition},
    store::{Commits, Store},
};

/// How soon a row that someone else holds is tried again, and how seldom at last.
const AGAIN: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(250));
/// Bytes of one statement: Postgres refuses a message above 1 GB, and a large one holds up its lane.
const BATCH_BYTES: usize = 16 << 20;
/// A fan-out of more instances than this is committed apart from the batch.
const ALONE: usize = 200;
/// A key that was taken in the same instant is looked at again so often before the batch is split.
const CONFLICTS: u32 = 3;

/// What became of an outcome, and the outcome itself: a worker that keeps its claim goes on from it.
pub(super) type Answer = Result<(Committed, Transition), Refused>;

/// An outcome that cannot be stored: nothing was changed, the claim still stands.
#[derive(Debug)]
pub(super) struct Refused(pub(super) Arc<Error>);

/// Hands outcomes to the lanes.
#[derive(Clone)]
pub(super) struct Committer {
    lanes: Vec<mpsc::UnboundedSender<Request>>,
    /// Without lanes: each outcome by itself, by whoever asks.
    inline: Option<(Arc<dyn Store>, Waker)>,
}

#[derive(Debug)]
struct Request {
    transition: Transition,
    answer: oneshot::Sender<Answer>,
    /// How long it waits if someone else holds its row.
    again: Duration,
}

impl Committer {
    /// Starts `lanes` lanes; an instance always uses the same one. They end when the last handle is gone.
    pub(super) fn new(store: &Arc<dyn Store>, waker: &Waker, lanes: usize, batch: usize) -> Self {
        let open = |_| {
            let (sender, inbox) = mpsc::unbounded_channel();
            // Weak: a row that waits for its turn does not keep the lane open.
            let lane = Lane { store: Arc::clone(store), waker: waker.clone(), back: sender.downgrade(), batch };
            tokio::spawn(Arc::new(lane).run(inbox));
            sender
        };
        Self { lanes: (0..lanes.max(1)).map(open).collect(), inline: None }
    }

    /// Without tasks: commits where it is called.
    #[cfg(feature = "testing")]
    pub(super) fn inline(store: &Arc<dyn Store>, waker: &Waker) -> Self {
        Self { lanes: vec![], inline: Some((Arc::clone(store), waker.clone())) }
    }

    /// Waits until the outcome is durable, or known to be void.
    pub(super) async fn commit(&self, transition: Transition) -> Answer {
        if let Some((store, waker)) = &self.inline {
            return Box::pin(commit_inline(store, waker, transition)).await;
        }
        let (answer, answered) = oneshot::channel();
        // The children of one parent in one lane: two would wait for each other's lock on it.
        let by = transition.parent.filter(|_| transition.ends()).map_or(transition.id, |parent| parent.id);
        let lane = usize::try_from(by.get().unsigned_abs()).unwrap_or(0) % self.lanes.len();
        let stopped = || Refused(Arc::new(Error::stopped()));
        let request = Request { transition, answer, again: AGAIN.0 };
        self.lanes[lane].send(request).map_err(|_| stopped())?;
        answered.await.unwrap_or_else(|_| Err(stopped()))
    }
}

/// One outcome by itself.
async fn commit_inline(store: &Arc<dyn Store>, waker: &Waker, transition: Transition) -> Answer {
    loop {
        let committed = persist(store, std::slice::from_ref(&transition)).await;
        let committed = committed.map_err(|error| Refused(Arc::new(error)))?;
        committed.wakes.iter().for_each(|queue| waker.wake(queue));
        unblock(store, waker, &committed.released).await;
        waker.notifier.tell(std::slice::from_ref(&transition), &committed);
        match committed.first() {
            Some(Committed::Busy) => tokio::time::sleep(AGAIN.0).await,
            Some(answer) => return Ok((*answer, transition)),
            None => return Err(Refused(Arc::new(Error::stopped()))),
        }
    }
}

/// Wakes whoever was set aside for keys that were just given up: after the commit, or a claim that set rows aside meanwhile
/// would be missed. What fails here is left to the floor.
async fn unblock(store: &Arc<dyn Store>, waker: &Waker, released: &[(String, u32)]) {
    if released.is_empty() {
        return;
    }
    match store.unblock(released).await {
        Ok(queues) => queues.iter().for_each(|queue| waker.wake(queue)),
        Err(error) => tracing::debug!(%error, "waking blocked rows failed: left to the floor"),
    }
}

/// Tries until the database answers. A commit whose acknowledgement was lost is told by its fence.
async fn persist(store: &Arc<dyn Store>, transitions: &[Transition]) -> Result<Commits, Error> {
    let (mut backoff, mut conflicts) = (Backoff::default(), 0);
    loop {
        match store.commit(transitions).await {
            Err(error) if error.is_conflict() && conflicts < CONFLICTS => conflicts += 1,
            Err(error) if error.is_transient() && !error.is_conflict() => {
                tracing::warn!(%error, outcomes = transitions.len(), "commit failed, trying again");
                backoff.wait().await;
            }
            result => return result,
        }
    }
}

/// Whether it would hold up the others: by the number of instances it starts, or by a closure of the user's.
fn goes_alone(t: &Transition) -> bool {
    t.effects.as_ref().is_some_and(|e| e.children.len() + e.spawned.len() > ALONE || !e.work.is_empty())
}

struct Lane {
    store: Arc<dyn Store>,
    waker: Waker,
    back: mpsc::WeakUnboundedSender<Request>,
    batch: usize,
}

/// Outcomes and who waits for them, side by side: the store takes a slice.
#[derive(Default)]
struct Batch {
    transitions: Vec<Transition>,
    waiting: Vec<(oneshot::Sender<Answer>, Duration)>,
    bytes: usize,
}

impl Batch {
    fn push(&mut self, request: Request) {
        self.bytes += request.transition.bytes();
        self.transitions.push(request.transition);
        self.waiting.push((request.answer, request.again));
    }
}

impl Lane {
    async fn run(self: Arc<Self>, mut inbox: mpsc::UnboundedReceiver<Request>) {
        let mut gathered = Vec::with_capacity(self.batch);
        while inbox.recv_many(&mut gathered, self.batch).await > 0 {
            // Whatever is about to hand its outcome in comes along: on an idle system nothing is.
            tokio::task::yield_now().await;
            while gathered.len() < self.batch
                && let Ok(request) = inbox.try_recv()
            {
                gathered.push(request);
            }
            let mut batch = Batch::default();
            for request in gathered.drain(..) {
                if goes_alone(&request.transition) {
                    tokio::spawn(Arc::clone(&self).commit_alone(request));
                    continue;
                }
                if batch.bytes > BATCH_BYTES {
                    self.commit(std::mem::take(&mut batch)).await;
                }
                batch.push(request);
            }
            self.commit(batch).await;
        }
    }

    /// A large fan-out holds up nobody.
    async fn commit_alone(self: Arc<Self>, request: Request) {
        let mut batch = Batch::default();
        batch.push(request);
        self.commit(batch).await;
    }

    /// One outcome that cannot be stored never fails the others: a refused batch is split until it stands alone.
    async fn commit(&self, batch: Batch) {
        let mut pieces = VecDeque::from([batch]);
        while let Some(mut piece) = pieces.pop_front() {
            match persist(&self.store, &piece.transitions).await {
                Ok(committed) => self.answer(piece, committed),
                Err(_) if piece.waiting.len() > 1 => {
                    let half = piece.waiting.len() / 2;
                    let (transitions, waiting) = (piece.transitions.split_off(half), piece.waiting.split_off(half));
                    pieces.extend([piece, Batch { transitions, waiting, bytes: 0 }]);
                }
                Err(error) => {
                    let error = Arc::new(error);
                    piece.waiting.into_iter().for_each(|(w, _)| drop(w.send(Err(Refused(Arc::clone(&error))))));
                }
            }
        }
    }

    fn answer(&self, piece: Batch, committed: Commits) {
        if !committed.released.is_empty() {
            let (store, waker, released) = (Arc::clone(&self.store), self.waker.clone(), committed.released);
            tokio::spawn(async move { unblock(&store, &waker, &released).await });
        }
        let committed = Commits { released: vec![], ..committed };
        committed.wakes.iter().for_each(|queue| self.waker.wake(queue));
        self.waker.notifier.tell(&piece.transitions, &committed);
        for ((transition, (answer, again)), committed) in
            piece.transitions.into_iter().zip(piece.waiting).zip(committed.answers)
        {
            if committed == Committed::Busy {
                tokio::spawn(later(self.back.clone(), Request { transition, answer, again }));
            } else {
                // Nobody waits any more: it is durable all the same.
                let _ = answer.send(Ok((committed, transition)));
            }
        }
    }
}

/// Puts a row that someone else holds back in line: it holds up nobody, and no connection.
async fn later(back: mpsc::WeakUnboundedSender<Request>, mut request: Request) {
    tokio::time::sleep(request.again).await;
    request.again = (request.again * 2).min(AGAIN.1);
    // Closed with the engine: dropping the request tells who waits.
    if let Some(lane) = back.upgrade() {
        let _ = lane.send(request);
    }
}
