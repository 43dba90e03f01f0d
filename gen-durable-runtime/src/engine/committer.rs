//! Makes outcomes durable. While one commit is under way the next batch gathers; there is no fixed delay.

use std::{collections::VecDeque, sync::Arc};

use tokio::sync::{Semaphore, mpsc, oneshot};

use super::backoff::Backoff;
use crate::{
    Error,
    model::{Committed, Transition},
    store::Store,
};

/// Rows that someone else holds wait here, a connection each.
const SLOW_LANE: usize = 2;
/// A key that was taken in the same instant is looked at again so often before the batch is split.
const CONFLICTS: u32 = 3;

/// What became of an outcome, and the outcome itself: a worker that keeps its claim goes on from it.
pub(super) type Answer = Result<(Committed, Transition), Refused>;

/// An outcome that cannot be stored: nothing was changed, the claim still stands.
#[derive(Debug)]
pub(super) struct Refused(pub(super) Arc<Error>);

/// Hands outcomes to the lanes.
#[derive(Debug, Clone)]
pub(super) struct Committer {
    lanes: Vec<mpsc::UnboundedSender<Request>>,
}

type Request = (Transition, oneshot::Sender<Answer>);

impl Committer {
    /// Starts `lanes` lanes; an instance always uses the same one. They end when the last handle is gone.
    pub(super) fn new(store: &Arc<dyn Store>, lanes: usize, batch: usize) -> Self {
        let slow = Arc::new(Semaphore::new(SLOW_LANE));
        let open = |_| {
            let (sender, inbox) = mpsc::unbounded_channel();
            let lane = Lane { store: Arc::clone(store), slow: Arc::clone(&slow), batch };
            tokio::spawn(lane.run(inbox));
            sender
        };
        Self { lanes: (0..lanes.max(1)).map(open).collect() }
    }

    /// Waits until the outcome is durable, or known to be void.
    pub(super) async fn commit(&self, transition: Transition) -> Answer {
        let (answer, answered) = oneshot::channel();
        let lane = usize::try_from(transition.id.get().unsigned_abs()).unwrap_or(0) % self.lanes.len();
        let stopped = || Refused(Arc::new(Error::stopped()));
        self.lanes[lane].send((transition, answer)).map_err(|_| stopped())?;
        answered.await.unwrap_or_else(|_| Err(stopped()))
    }
}

struct Lane {
    store: Arc<dyn Store>,
    slow: Arc<Semaphore>,
    batch: usize,
}

/// Outcomes and who waits for them, side by side: the store takes a slice.
#[derive(Default)]
struct Batch {
    transitions: Vec<Transition>,
    waiting: Vec<oneshot::Sender<Answer>>,
}

impl Lane {
    async fn run(self, mut inbox: mpsc::UnboundedReceiver<Request>) {
        let mut gathered = Vec::with_capacity(self.batch);
        while inbox.recv_many(&mut gathered, self.batch).await > 0 {
            let (transitions, waiting) = gathered.drain(..).unzip();
            self.commit(Batch { transitions, waiting }).await;
        }
    }

    /// One outcome that cannot be stored never fails the others: a refused batch is split until it stands alone.
    async fn commit(&self, batch: Batch) {
        let mut pieces = VecDeque::from([batch]);
        while let Some(mut piece) = pieces.pop_front() {
            match self.persist(&piece.transitions).await {
                Ok(committed) => self.answer(piece, committed),
                Err(_) if piece.waiting.len() > 1 => {
                    let half = piece.waiting.len() / 2;
                    let (transitions, waiting) = (piece.transitions.split_off(half), piece.waiting.split_off(half));
                    pieces.extend([piece, Batch { transitions, waiting }]);
                }
                Err(error) => {
                    let error = Arc::new(error);
                    piece.waiting.into_iter().for_each(|w| drop(w.send(Err(Refused(Arc::clone(&error))))));
                }
            }
        }
    }

    /// Tries until the database answers. A commit whose acknowledgement was lost is told by its fence.
    async fn persist(&self, transitions: &[Transition]) -> Result<Vec<Committed>, Error> {
        let (mut backoff, mut conflicts) = (Backoff::default(), 0);
        loop {
            match self.store.commit(transitions).await {
                Err(error) if error.is_conflict() && conflicts < CONFLICTS => conflicts += 1,
                Err(error) if error.is_transient() && !error.is_conflict() => {
                    tracing::warn!(%error, outcomes = transitions.len(), "commit failed, trying again");
                    backoff.wait().await;
                }
                result => return result,
            }
        }
    }

    fn answer(&self, piece: Batch, committed: Vec<Committed>) {
        for ((transition, waiting), committed) in piece.transitions.into_iter().zip(piece.waiting).zip(committed) {
            if committed == Committed::Busy {
                tokio::spawn(alone(Arc::clone(&self.store), Arc::clone(&self.slow), transition, waiting));
            } else {
                // Nobody waits any more: it is durable all the same.
                let _ = waiting.send(Ok((committed, transition)));
            }
        }
    }
}

/// The slow lane: waits for the row, and holds up nobody else.
async fn alone(store: Arc<dyn Store>, slow: Arc<Semaphore>, transition: Transition, waiting: oneshot::Sender<Answer>) {
    let mut backoff = Backoff::default();
    let committed = loop {
        let Ok(permit) = slow.acquire().await else { break Err(Error::stopped()) };
        match store.commit_alone(&transition).await {
            Ok(Committed::Busy) => {}
            Err(error) if error.is_transient() => tracing::debug!(%error, "a row is held by someone else"),
            result => break result,
        }
        drop(permit);
        backoff.wait().await;
    };
    let _ = waiting.send(committed.map(|c| (c, transition)).map_err(|e| Refused(Arc::new(e))));
}
