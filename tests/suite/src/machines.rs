//! The machines of the crash, outage and client tests.
//!
//! Included by the worker binary and by the tests, not part of the library: a binary serves every machine that is
//! linked into it.
#![allow(dead_code, missing_debug_implementations, unreachable_pub)]

use std::time::Duration;

use gen_durable::{Failed, prelude::*};
use serde::{Deserialize, Serialize};
use suite::Effects;

/// The handler of them all.
#[derive(Clone)]
pub struct Rig {
    /// Where the steps write what they did: their own autocommit connections.
    effects: Effects,
    /// Every run takes so much longer in this process.
    pause: Duration,
}

impl Rig {
    pub fn new(url: &str, pause: Duration) -> Self {
        Self { effects: Effects::at(url), pause }
    }

    pub async fn effect(&self, step: &str, cx: &StepContext) -> Result<(), StepError> {
        Ok(self.effects.write(cx.id().get(), step, cx.attempt()).await?)
    }

    async fn work(&self, step: &str, millis: u64, cx: &StepContext) -> Result<(), StepError> {
        self.effect(step, cx).await?;
        let time = Duration::from_millis(millis) + self.pause;
        if !time.is_zero() {
            tokio::time::sleep(time).await;
        }
        Ok(())
    }
}

#[derive(Debug, Serialize, Deserialize, Signal)]
pub struct Go {
    pub n: u32,
}

/// What a step is told to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Then {
    Done,
    Goto,
    Park,
    Retry,
    Again,
    Error,
    Fail,
    Abort,
    Panic,
    PanicAny,
    Index,
    Poisoned,
    Joined,
}

/// Runs so many steps in a row, each so long; never gives up.
#[durable_fsm(output(u32), handler(Rig), retry(attempts = 100_000, backoff = "100ms", cap = "1s", crashes = 1_000))]
pub enum Work {
    #[step(start, next(Run), done)]
    Run { millis: u64, steps: u32 },
}

impl WorkSteps for Rig {
    async fn run(&self, step: Run, cx: &StepContext) -> StepResult<Run> {
        self.work("run", step.millis, cx).await?;
        Ok(match step.steps {
            0 | 1 => done(1),
            left => goto(Run { steps: left - 1, ..step }),
        })
    }
}

/// Ends each run as told, and has a catch.
#[durable_fsm(output(String), handler(Rig), retry(attempts = 3, backoff = "50ms", crashes = 3))]
pub enum Task {
    #[step(start, next(Onward, Hold), done, fail, catch(Mend))]
    Act { then: Then, millis: u64 },
    #[step(done)]
    Onward { note: String },
    #[step(await(Go), done)]
    Hold { note: String },
    #[step(done)]
    Mend { error: String, attempts: u32 },
}

impl From<Failed<Act>> for Mend {
    fn from(failed: Failed<Act>) -> Self {
        assert!(failed.step.millis != 13, "the catch panics too");
        Mend { error: failed.error, attempts: failed.attempts }
    }
}

impl TaskSteps for Rig {
    async fn act(&self, step: Act, cx: &StepContext) -> StepResult<Act> {
        self.work("act", step.millis, cx).await?;
        let note = "from act".to_owned();
        Ok(match step.then {
            Then::Goto => goto(Onward { note }),
            Then::Park => goto(Hold { note }),
            Then::Retry if cx.attempt() == 0 => retry_in(Duration::from_millis(20)),
            Then::Again => retry_in(Duration::from_millis(20)),
            Then::Fail => fail("told to fail"),
            other => {
                fall(other).await?;
                done(note)
            }
        })
    }
    async fn onward(&self, step: Onward, cx: &StepContext) -> StepResult<Onward> {
        self.effect("onward", cx).await?;
        Ok(done(step.note))
    }
    async fn hold(&self, step: Hold, go: Go, cx: &StepContext) -> StepResult<Hold> {
        self.effect("hold", cx).await?;
        Ok(done(format!("{} {}", step.note, go.n)))
    }
    async fn mend(&self, step: Mend, cx: &StepContext) -> StepResult<Mend> {
        self.effect("mend", cx).await?;
        Ok(done(format!("{} after {}", step.error, step.attempts)))
    }
}

/// One at a time for each name, and no catch.
#[derive(ConcurrencyKey)]
#[concurrency(key(u64))]
pub struct Slot;

#[durable_fsm(output(u64), handler(Rig), retry(attempts = 3, backoff = "50ms", crashes = 2))]
pub enum Bare {
    #[step(start, key(name), concurrency(Slot, by(slot)), done)]
    Fall { name: u64, slot: u64, then: Then },
}

impl BareSteps for Rig {
    async fn fall(&self, step: Fall, cx: &StepContext) -> StepResult<Fall> {
        self.work("fall", 0, cx).await?;
        fall(step.then).await?;
        Ok(done(step.name))
    }
}

/// The ways to fall over.
pub async fn fall(how: Then) -> Result<(), StepError> {
    match how {
        Then::Done | Then::Goto | Then::Park | Then::Retry | Then::Again | Then::Fail => {}
        Then::Error => Err("told to err")?,
        Then::Abort => std::process::abort(),
        Then::Panic => panic!("x"),
        Then::PanicAny => std::panic::panic_any(42),
        Then::Index => drop(Vec::<u8>::new()[std::hint::black_box(7)]),
        Then::Poisoned => drop(poisoned().lock().unwrap()),
        Then::Joined => tokio::spawn(async { panic!("in a task of its own") }).await?,
    }
    Ok(())
}

fn poisoned() -> std::sync::Arc<std::sync::Mutex<()>> {
    let mutex = std::sync::Arc::new(std::sync::Mutex::new(()));
    let other = std::sync::Arc::clone(&mutex);
    let _ = std::thread::spawn(move || {
        let _held = other.lock();
        panic!("poisons the lock");
    })
    .join();
    mutex
}

/// Parks and goes on, so many times; ends with the sum of what it heard.
#[durable_fsm(output(u32), handler(Rig), retry(attempts = 1_000, backoff = "50ms", cap = "1s", crashes = 1_000))]
pub enum Visits {
    #[step(start, key(name), next(Listen))]
    Prepare { name: u64, millis: u64, rounds: u32 },
    #[step(await(Go), next(Listen), done)]
    Listen { left: u32, sum: u32 },
}

impl VisitsSteps for Rig {
    async fn prepare(&self, step: Prepare, cx: &StepContext) -> StepResult<Prepare> {
        self.work("prepare", step.millis, cx).await?;
        Ok(goto(Listen { left: step.rounds, sum: 0 }))
    }
    async fn listen(&self, step: Listen, go: Go, cx: &StepContext) -> StepResult<Listen> {
        self.effect("listen", cx).await?;
        let sum = step.sum + go.n;
        Ok(match step.left {
            0 | 1 => done(sum),
            left => goto(Listen { left: left - 1, sum }),
        })
    }
}

/// Waits for so long; ends with whether the signal came.
#[durable_fsm(output(bool), handler(Rig))]
pub enum Timed {
    #[step(start, await(Go), timeout(within), done)]
    Patience { within: Duration },
}

impl TimedSteps for Rig {
    async fn patience(&self, _: Patience, go: Result<Go, TimedOut>, cx: &StepContext) -> StepResult<Patience> {
        self.effect("patience", cx).await?;
        Ok(done(go.is_ok()))
    }
}
