//! What is measured: a step that does nothing, and five of them in a row.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use gen_durable::{Client, InstanceId, RunningWorker, prelude::*};

#[durable_fsm(handler(Nothing))]
pub enum Noop {
    #[step(start, done)]
    Only { left: u32 },
}

#[durable_fsm(handler(Nothing))]
pub enum Chain {
    #[step(start, next(Link), done)]
    Link { left: u32 },
}

/// The same without a history.
pub mod silent {
    use super::*;

    #[durable_fsm(name = "silent_noop", history = "off", handler(Nothing))]
    pub enum Noop {
        #[step(start, done)]
        Only { left: u32 },
    }

    #[durable_fsm(name = "silent_chain", history = "off", handler(Nothing))]
    pub enum Chain {
        #[step(start, next(Link), done)]
        Link { left: u32 },
    }

    impl NoopSteps for Nothing {
        async fn only(&self, _step: Only, _cx: &StepContext) -> StepResult<Only> {
            self.ended.fetch_add(1, Ordering::Relaxed);
            Ok(done(()))
        }
    }

    impl ChainSteps for Nothing {
        async fn link(&self, step: Link, _cx: &StepContext) -> StepResult<Link> {
            if step.left > 0 {
                return Ok(goto(Link { left: step.left - 1 }));
            }
            self.ended.fetch_add(1, Ordering::Relaxed);
            Ok(done(()))
        }
    }
}

/// Does nothing, and remembers when.
#[derive(Default, Clone)]
pub struct Nothing {
    /// Instances whose last step ran: looking at the table for that would compete with what is measured.
    pub ended: Arc<AtomicUsize>,
    pub began: Option<Arc<Mutex<HashMap<InstanceId, Instant>>>>,
}

impl NoopSteps for Nothing {
    async fn only(&self, _step: Only, cx: &StepContext) -> StepResult<Only> {
        if let Some(began) = &self.began {
            began.lock().unwrap_or_else(PoisonError::into_inner).insert(cx.id(), Instant::now());
        }
        self.ended.fetch_add(1, Ordering::Relaxed);
        Ok(done(()))
    }
}

impl ChainSteps for Nothing {
    async fn link(&self, step: Link, _cx: &StepContext) -> StepResult<Link> {
        if step.left > 0 {
            return Ok(goto(Link { left: step.left - 1 }));
        }
        self.ended.fetch_add(1, Ordering::Relaxed);
        Ok(done(()))
    }
}

pub async fn worker(
    client: &Client,
    nothing: Nothing,
    steps: usize,
    in_place: u32,
    batch: u32,
) -> Result<RunningWorker, gen_durable::Error> {
    let worker = Worker::new(client.clone()).handler(nothing).queue("default", steps).steps_in_place(in_place);
    worker.batch(batch).without_migration().start().await
}
