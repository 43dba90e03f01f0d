//! What is measured: steps that do nothing, alone, in a row, waiting, in families and under limits.

mod family;
mod limited;
mod plain;
pub mod silent;
mod waiting;

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use gen_durable::{Client, InstanceId, RunningWorker, StepContext, Worker};

pub use family::Parent;
pub use limited::{Free, Metered, RATE, Throttled, Watched};
pub use plain::Only;
pub use waiting::{Asleep, Go, Parked};

/// Does nothing, and remembers when.
#[derive(Debug, Default, Clone)]
pub struct Nothing {
    /// Instances whose last step ran: looking at the table for that would compete with what is measured.
    pub ended: Arc<AtomicUsize>,
    pub began: Option<Arc<Mutex<HashMap<InstanceId, Instant>>>>,
}

impl Nothing {
    /// One that remembers when each instance's last step began.
    pub fn watching() -> Self {
        Self { began: Some(Arc::default()), ..Self::default() }
    }

    fn end(&self, cx: &StepContext) {
        if let Some(began) = &self.began {
            began.lock().unwrap_or_else(PoisonError::into_inner).insert(cx.id(), Instant::now());
        }
        self.ended.fetch_add(1, Ordering::Relaxed);
    }

    pub fn began(&self, id: InstanceId) -> Option<Instant> {
        self.began.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner).get(&id).copied()
    }
}

/// The handler of what is limited: a worker without it knows of no limit.
#[derive(Debug, Default, Clone)]
pub struct Limited(pub Nothing);

/// How the one worker works.
#[derive(Debug, Clone, Copy)]
pub struct Crew {
    /// Steps at once.
    pub steps: usize,
    /// Steps that an instance runs in a row.
    pub in_place: u32,
    /// Rows of a claim or a commit.
    pub batch: u32,
    /// It serves what is limited as well.
    pub limits: bool,
}

impl Crew {
    pub fn of(steps: usize) -> Self {
        Self { steps, in_place: 64, batch: 1_000, limits: false }
    }

    pub async fn worker(&self, client: &Client, nothing: Nothing) -> Result<RunningWorker, gen_durable::Error> {
        let worker = Worker::new(client.clone()).handler(nothing.clone()).leave_unserved();
        let worker = if self.limits { worker.handler(Limited(nothing)) } else { worker };
        let worker = worker.queue("default", self.steps).steps_in_place(self.in_place).batch(self.batch);
        worker.without_migration().start().await
    }
}
