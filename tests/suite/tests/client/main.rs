//! Starts, signals and waits, as a program that uses the library meets them.
#![allow(unreachable_pub)] // machines are public as in a user's crate

#[path = "../../src/machines.rs"]
mod machines;

mod delays;
mod inbox;
mod races;
mod starts;
mod together;
mod transactions;
mod waits;

use std::time::Duration;

use gen_durable::{Client, InstanceId, RunningWorker, Started, prelude::*};
use jiff::Timestamp;
use machines::{Go, Rig};
use suite::Db;

/// A business key of text.
#[durable_fsm(output(()), handler(Rig))]
pub enum Named {
    #[step(start, key(name), done)]
    Name { name: String },
}

/// A business key that stays occupied after the end.
#[durable_fsm(output(()), handler(Rig))]
pub enum Kept {
    #[step(start, key(name, kept), done)]
    Keep { name: u64 },
}

/// Waits for a time, then for ever: a signal that comes too late for the first wait ends the second.
#[durable_fsm(output(String), handler(Rig))]
pub enum Twice {
    #[step(start, await(Go), timeout(within), next(Late), done)]
    First { within: Duration },
    #[step(await(Go), done)]
    Late {},
}

/// Absurd times.
#[durable_fsm(output(String), handler(Rig), retry(attempts = 1))]
pub enum Absurd {
    #[step(start, next(Absurd2, At), catch(Refused), done)]
    Ask { how: String },
    #[step(done)]
    Absurd2 {},
    #[step(start, until(at), done)]
    At { at: Timestamp },
    #[step(done)]
    Refused { error: String },
}

impl From<gen_durable::Failed<Ask>> for Refused {
    fn from(failed: gen_durable::Failed<Ask>) -> Self {
        Refused { error: failed.error }
    }
}

impl NamedSteps for Rig {
    async fn name(&self, _: Name, _: &StepContext) -> StepResult<Name> {
        Ok(done(()))
    }
}

impl KeptSteps for Rig {
    async fn keep(&self, _: Keep, _: &StepContext) -> StepResult<Keep> {
        Ok(done(()))
    }
}

impl TwiceSteps for Rig {
    async fn first(&self, _: First, go: Result<Go, TimedOut>, _: &StepContext) -> StepResult<First> {
        Ok(match go {
            Ok(Go { .. }) => done("first".into()),
            Err(TimedOut) => goto(Late {}),
        })
    }
    async fn late(&self, _: Late, _go: Go, _: &StepContext) -> StepResult<Late> {
        Ok(done("late".into()))
    }
}

impl AbsurdSteps for Rig {
    async fn ask(&self, step: Ask, cx: &StepContext) -> StepResult<Ask> {
        Ok(match step.how.as_str() {
            "retry max" => retry_in(Duration::MAX),
            "goto max" => goto_after(Absurd2 {}, Duration::MAX),
            "goto zero" => goto_after(Absurd2 {}, Duration::ZERO),
            "retry 1 ms" if cx.attempt() == 0 => retry_in(Duration::from_millis(1)),
            "past" => goto(At { at: Timestamp::UNIX_EPOCH }),
            "9999" => goto(At { at: Timestamp::MAX }),
            _ => done("asked".into()),
        })
    }
    async fn absurd2(&self, _: Absurd2, _: &StepContext) -> StepResult<Absurd2> {
        Ok(done("on".into()))
    }
    async fn at(&self, _: At, _: &StepContext) -> StepResult<At> {
        Ok(done("at".into()))
    }
    async fn refused(&self, step: Refused, _: &StepContext) -> StepResult<Refused> {
        Ok(done(step.error))
    }
}

async fn client(db: &Db) -> Client {
    Client::options(&db.url).pool_size(5).connect().await.expect("connects")
}

/// A worker in this process, with a client of its own.
async fn worker(url: &str, effects: &str) -> RunningWorker {
    let client = Client::options(url).pool_size(5).connect().await.expect("connects");
    worker_on(client, effects, Duration::from_millis(200)).await
}

async fn worker_on(client: Client, effects: &str, poll: Duration) -> RunningWorker {
    let worker = Worker::new(client).handler(Rig::new(effects, Duration::ZERO)).queue("default", 50);
    let worker = worker.poll(poll).drain(Duration::from_secs(1));
    worker.start().await.expect("starts")
}

fn ids(started: &[Started]) -> Vec<InstanceId> {
    started.iter().map(|s| s.id()).collect()
}
