//! Workers, one of which is killed again and again.

use std::{ops::Range, time::Duration};

use rand::RngExt as _;
use suite::WorkerOptions;
use tokio::{sync::watch, task::JoinHandle};

/// They work until they are stopped; then no worker is left.
pub struct Killing {
    stop: watch::Sender<bool>,
    killing: JoinHandle<usize>,
}

impl Killing {
    /// Kills one of two with SIGKILL, each time after so many milliseconds, and starts another in its place.
    pub async fn begin(worker: WorkerOptions, every_ms: Range<u64>) -> Self {
        Self::of(2, worker, every_ms).await
    }

    /// The same with one of so many.
    pub async fn of(number: usize, worker: WorkerOptions, every_ms: Range<u64>) -> Self {
        let mut workers = Vec::new();
        for _ in 0..number {
            workers.push(worker.spawn().await);
        }
        let stop = watch::Sender::new(false);
        let killing = tokio::spawn(kill(worker, workers, every_ms, stop.subscribe()));
        Self { stop, killing }
    }

    /// Lets them live from now on; answers how often one was killed. The workers go with what is returned.
    pub async fn end(self) -> usize {
        self.stop.send_replace(true);
        self.killing.await.expect("no panic")
    }
}

async fn kill(
    worker: WorkerOptions,
    mut workers: Vec<suite::WorkerProcess>,
    every_ms: Range<u64>,
    mut stop: watch::Receiver<bool>,
) -> usize {
    for kills in 0.. {
        let pause = Duration::from_millis(rand::rng().random_range(every_ms.clone()));
        if tokio::time::timeout(pause, stop.wait_for(|stop| *stop)).await.is_ok() {
            return kills;
        }
        let number = rand::rng().random_range(0..workers.len());
        let victim = &mut workers[number];
        victim.kill().await;
        // It may be killed before it works. On a wire that is cut its boot may fail: then it ends by itself until it is its
        // turn.
        *victim = worker.launch();
    }
    unreachable!("it is stopped")
}
