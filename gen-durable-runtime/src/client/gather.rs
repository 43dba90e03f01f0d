//! Single calls of many callers, made together: while one statement is under way the next batch gathers, so that a busy client
//! writes hundreds with a statement and a flush. Who calls alone calls at once, by itself.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::oneshot;

use crate::{Error, StoreClass, store::Pending};

/// Bytes of one statement.
const BATCH_BYTES: usize = 16 << 20;

/// What can be done for many at once.
pub(super) trait Together: Send + Sync + 'static {
    /// What one caller hands in.
    type Item: Send + Sync + 'static;
    /// What it gets.
    type Answer: Send + 'static;

    /// Items a batch, at most.
    const BATCH: usize;

    /// The size of its texts, about.
    fn bytes(item: &Self::Item) -> usize;

    /// By itself: it may wait for others.
    fn alone<'a>(&'a self, item: &'a Self::Item) -> Pending<'a, Self::Answer>;

    /// All or none, without waiting for anyone; one answer each, in order: `None` for one that must wait, so is made alone.
    fn together<'a>(&'a self, items: &'a [Self::Item]) -> Pending<'a, Vec<Option<Self::Answer>>>;
}

/// Calls of one kind.
pub(super) struct Gather<T: Together>(Arc<Line<T>>);

struct Line<T: Together> {
    work: T,
    state: Mutex<State<T>>,
}

struct State<T: Together> {
    waiting: VecDeque<Request<T>>,
    /// A batch is under way, or about to be.
    lane: bool,
    /// Someone came alone, and is under way. Nobody waits for him: his future is his, and may never be polled again.
    alone: bool,
}

struct Request<T: Together> {
    item: T::Item,
    told: oneshot::Sender<Told<T>>,
}

/// What becomes of a request in line.
enum Told<T: Together> {
    Done(T::Answer),
    Failed(Error),
    /// It was not made: whoever asks makes it by itself.
    Alone(T::Item),
}

/// Whoever waits for each item of a batch, in order.
type Waiting<T> = Vec<oneshot::Sender<Told<T>>>;

enum Turn<T: Together> {
    Alone(T::Item, Leave<T>),
    InLine(oneshot::Receiver<Told<T>>),
}

impl<T: Together> Gather<T> {
    pub(super) fn new(work: T) -> Self {
        let state = State { waiting: VecDeque::new(), lane: false, alone: false };
        Self(Arc::new(Line { work, state: Mutex::new(state) }))
    }

    /// Alone if nobody else is at it, else with whoever gathers.
    ///
    /// # Errors
    /// Those of the call itself. A transient one leaves open whether it happened.
    pub(super) async fn call(&self, item: T::Item) -> Result<T::Answer, Error> {
        let told = match self.turn(item) {
            Turn::Alone(item, _leave) => return self.0.work.alone(&item).await,
            Turn::InLine(told) => told.await,
        };
        match told {
            Ok(Told::Done(answer)) => Ok(answer),
            Ok(Told::Failed(error)) => Err(error),
            Ok(Told::Alone(item)) => self.0.work.alone(&item).await,
            Err(_) => Err(Error::store("calling the database", StoreClass::Transient, "the runtime that did it ended")),
        }
    }

    /// By itself, beside all others: what may wait for a row.
    pub(super) async fn call_alone(&self, item: &T::Item) -> Result<T::Answer, Error> {
        self.0.work.alone(item).await
    }

    fn turn(&self, item: T::Item) -> Turn<T> {
        let mut state = self.0.state();
        if !state.alone && !state.lane {
            state.alone = true;
            return Turn::Alone(item, Leave(Arc::clone(&self.0)));
        }
        let (told, answer) = oneshot::channel();
        state.waiting.push_back(Request { item, told });
        // One at a time, as two would only halve the batches.
        let opens = !std::mem::replace(&mut state.lane, true);
        // A runtime that ends drops the lane at once, which takes the lock.
        drop(state);
        if opens {
            tokio::spawn(lane(Lane { line: Arc::clone(&self.0), open: true }));
        }
        Turn::InLine(answer)
    }
}

/// Who came alone is through, or was dropped.
struct Leave<T: Together>(Arc<Line<T>>);

impl<T: Together> Drop for Leave<T> {
    fn drop(&mut self) {
        self.0.state().alone = false;
    }
}

/// Whoever makes batches.
struct Lane<T: Together> {
    line: Arc<Line<T>>,
    open: bool,
}

/// Makes batches until nobody waits.
async fn lane<T: Together>(mut lane: Lane<T>) {
    // Whoever is about to call comes along.
    tokio::task::yield_now().await;
    while let Some((items, waiting)) = lane.next() {
        let made = lane.line.work.together(&items).await;
        answer(items, waiting, made);
        tokio::task::yield_now().await;
    }
}

fn answer<T: Together>(items: Vec<T::Item>, waiting: Waiting<T>, made: Result<Vec<Option<T::Answer>>, Error>) {
    // One that the database refuses fails nobody else.
    let refused = made.as_ref().is_err_and(Error::is_refused) && waiting.len() > 1;
    let mut made = made.map(Vec::into_iter);
    for (item, waits) in items.into_iter().zip(waiting) {
        let told = match &mut made {
            Ok(answers) => answers.next().flatten().map_or(Told::Alone(item), Told::Done),
            Err(_) if refused => Told::Alone(item),
            Err(error) => Told::Failed(error.clone()),
        };
        // Nobody waits any more: it is done all the same.
        let _ = waits.send(told);
    }
}

impl<T: Together> Lane<T> {
    /// The next batch; without one the lane is closed, in the same moment.
    fn next(&mut self) -> Option<(Vec<T::Item>, Waiting<T>)> {
        let mut state = self.line.state();
        let (mut items, mut waiting, mut bytes) = (vec![], vec![], 0);
        while items.len() < T::BATCH
            && bytes < BATCH_BYTES
            && let Some(request) = state.waiting.pop_front()
        {
            // Whoever went away before it was begun wants nothing.
            if request.told.is_closed() {
                continue;
            }
            bytes += T::bytes(&request.item);
            items.push(request.item);
            waiting.push(request.told);
        }
        if items.is_empty() {
            (state.lane, self.open) = (false, false);
            return None;
        }
        Some((items, waiting))
    }
}

/// Dropped half way (its runtime ends): whoever still waits is not stranded.
impl<T: Together> Drop for Lane<T> {
    fn drop(&mut self) {
        if !self.open {
            return;
        }
        let mut state = self.line.state();
        state.lane = false;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        for request in waiting {
            let _ = request.told.send(Told::Alone(request.item));
        }
    }
}

impl<T: Together> Line<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        // Nothing panics under it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::{FutureExt as _, future::join_all};
    use tokio::sync::Semaphore;

    use super::*;

    /// Doubles numbers, as many batches as it has leave for; notes what came together.
    #[derive(Clone)]
    struct Doubles {
        leave: Arc<Semaphore>,
        batches: Arc<Mutex<Vec<Vec<u32>>>>,
    }

    impl Doubles {
        fn with_leave(leave: usize) -> Self {
            Self { leave: Arc::new(Semaphore::new(leave)), batches: Arc::default() }
        }

        async fn make(&self, items: &[u32]) -> Vec<u32> {
            tokio::task::yield_now().await;
            self.leave.acquire().await.expect("open").forget();
            self.batches.lock().expect("whole").push(items.to_vec());
            items.iter().map(|n| n * 2).collect()
        }

        fn batches(&self) -> Vec<Vec<u32>> {
            self.batches.lock().expect("whole").clone()
        }
    }

    impl Together for Doubles {
        type Item = u32;
        type Answer = u32;

        const BATCH: usize = 4;

        fn bytes(_: &u32) -> usize {
            1
        }

        fn alone<'a>(&'a self, item: &'a u32) -> Pending<'a, u32> {
            Box::pin(async { Ok(self.make(&[*item]).await[0]) })
        }

        /// 13 must be made alone.
        fn together<'a>(&'a self, items: &'a [u32]) -> Pending<'a, Vec<Option<u32>>> {
            Box::pin(async { Ok(self.make(items).await.into_iter().map(|n| (n != 26).then_some(n)).collect()) })
        }
    }

    async fn calls(gather: &Gather<Doubles>, items: impl IntoIterator<Item = u32>) -> Vec<Result<u32, Error>> {
        join_all(items.into_iter().map(|n| gather.call(n))).await
    }

    #[tokio::test]
    async fn who_comes_alone_is_made_alone_and_the_others_by_batches() {
        let (work, one_by_one) = (Doubles::with_leave(100), async |gather: &Gather<Doubles>| {
            for n in 0..3 {
                assert_eq!(gather.call(n).await.expect("made"), n * 2);
            }
        });
        let gather = Gather::new(work.clone());
        one_by_one(&gather).await;
        let made = calls(&gather, 10..20).await.into_iter().map(|n| n.expect("made"));
        assert_eq!(made.collect::<Vec<_>>(), (10..20).map(|n| n * 2).collect::<Vec<_>>(), "each has its own answer");
        one_by_one(&gather).await;
        let alone = |n: u32| vec![n];
        let mut expected: Vec<Vec<u32>> = [0, 1, 2, 10].map(alone).into();
        expected.extend([vec![11, 12, 13, 14], vec![15, 16, 17, 18], vec![19]]);
        let mut batches = work.batches();
        // 13 must wait for someone: the batch leaves it to its caller.
        let again = batches.iter().position(|batch| batch == &[13]).expect("made alone");
        batches.remove(again);
        expected.extend([0, 1, 2].map(alone));
        assert_eq!(batches, expected);
    }

    #[tokio::test]
    async fn who_goes_away_in_line_is_not_made() {
        let work = Doubles::with_leave(0);
        let gather = Gather::new(work.clone());
        let mut in_line: Vec<_> = (1..4).map(|n| Box::pin(gather.call(n))).collect();
        assert!(in_line.iter_mut().all(|call| call.now_or_never().is_none()));
        drop(in_line.pop());
        work.leave.add_permits(100);
        let made = join_all(in_line).await.into_iter().map(|n| n.expect("made"));
        assert_eq!(made.collect::<Vec<_>>(), [2, 4]);
        assert_eq!(gather.call(4).await.expect("made"), 8);
        assert_eq!(work.batches(), [vec![1], vec![2], vec![4]]);
    }

    /// What was taken may have happened; what stood in line is made by its caller, wherever that runs.
    #[test]
    fn a_runtime_that_ends_strands_nobody() {
        let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let (first, second) = (runtime(), runtime());
        let work = Doubles::with_leave(0);
        let gather = Arc::new(Gather::new(work.clone()));
        let call = |n| {
            let gather = Arc::clone(&gather);
            async move { gather.call(n).await }
        };
        let mut alone = Box::pin(call(0));
        let mut taken = Box::pin(call(1));
        first.block_on(async {
            assert!((&mut alone).now_or_never().is_none() && (&mut taken).now_or_never().is_none());
            tokio::time::sleep(Duration::from_millis(10)).await;
        });
        let mut in_line = Box::pin(call(2));
        second.block_on(async { assert!((&mut in_line).now_or_never().is_none()) });
        drop(first);
        work.leave.add_permits(100);
        second.block_on(async {
            assert!(taken.await.expect_err("nobody knows").is_transient());
            assert_eq!(in_line.await.expect("made"), 4);
            assert_eq!(alone.await.expect("made"), 0);
            assert_eq!(call(5).await.expect("made"), 10);
        });
        assert_eq!(work.batches(), [vec![2], vec![0], vec![5]]);
    }
}
