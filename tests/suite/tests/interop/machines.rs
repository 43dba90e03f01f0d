//! Our machines, in the queue `ours`.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use gen_durable::{Partial, prelude::*};
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Signal)]
pub struct Red {
    pub n: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Signal)]
pub struct Blue {
    pub n: u32,
}

/// What the handlers did, and what they wait for.
pub struct Desk {
    pub runs: AtomicU32,
    /// A slow step ends with one of these.
    pub permits: Semaphore,
}

impl Default for Desk {
    fn default() -> Self {
        Self { runs: AtomicU32::new(0), permits: Semaphore::new(0) }
    }
}

/// One at a time.
#[derive(ConcurrencyKey)]
#[concurrency(key(String))]
pub struct Bench;

/// Packs, waits for a colour, and ends with it.
#[durable_fsm(output(String), handler(Desk), queue = "ours", retry(attempts = 3, backoff = "10ms"))]
pub enum Parcel {
    #[step(start, key(name), next(Tape))]
    Pack { name: String },
    #[step(await(Red, Blue), timeout = "1h", next(Post))]
    Tape { name: String },
    #[step(done)]
    Post { name: String, with: String },
    /// Runs until it is let go on.
    #[step(start, done, fail)]
    Weigh { name: String, fails: bool },
    #[step(start, concurrency(Bench, by(name)), done)]
    Stamp { name: String },
}

impl ParcelSteps for Desk {
    async fn pack(&self, step: Pack, _: &StepContext) -> StepResult<Pack> {
        Ok(goto(Tape { name: step.name }))
    }

    async fn tape(&self, step: Tape, signal: Result<TapeSignal, TimedOut>, _: &StepContext) -> StepResult<Tape> {
        let with = match signal {
            Ok(TapeSignal::Red(red)) => format!("red {}", red.n),
            Ok(TapeSignal::Blue(blue)) => format!("blue {}", blue.n),
            Err(TimedOut) => "nothing".into(),
        };
        Ok(goto(Post { name: step.name, with }))
    }

    async fn post(&self, step: Post, _: &StepContext) -> StepResult<Post> {
        Ok(done(format!("{} with {}", step.name, step.with)))
    }

    async fn weigh(&self, step: Weigh, _: &StepContext) -> StepResult<Weigh> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        self.permits.acquire().await.expect("open").forget();
        Ok(if step.fails { fail("too heavy") } else { done(step.name) })
    }

    async fn stamp(&self, step: Stamp, _: &StepContext) -> StepResult<Stamp> {
        Ok(done(step.name))
    }
}

/// Waits for several.
#[durable_fsm(output(String), handler(Desk), queue = "ours", retry(attempts = 3, backoff = "10ms"))]
pub enum Palette {
    #[step(start, await(all(Red, Blue)), done)]
    Both {},
    #[step(start, await(Red, count = 3), done)]
    Three {},
    /// Errs at its first run.
    #[step(start, await(all(Red, Blue)), timeout(within), done)]
    BothSoon { within: Duration },
    #[step(start, await(Red), timeout(within), done)]
    OneSoon { within: Duration },
}

impl PaletteSteps for Desk {
    async fn both(&self, _: Both, got: BothSignals, _: &StepContext) -> StepResult<Both> {
        Ok(done(format!("{} {}", got.red.n, got.blue.n)))
    }

    async fn three(&self, _: Three, reds: Vec<Red>, _: &StepContext) -> StepResult<Three> {
        Ok(done(reds.iter().map(|red| red.n.to_string()).collect::<Vec<_>>().join(" ")))
    }

    async fn both_soon(
        &self,
        _: BothSoon,
        got: Result<BothSoonSignals, Partial<(Option<Red>, Option<Blue>)>>,
        cx: &StepContext,
    ) -> StepResult<BothSoon> {
        self.once(cx)?;
        Ok(done(match got {
            Ok(both) => format!("{} {}", both.red.n, both.blue.n),
            Err(partial) => format!("{:?}", partial.received),
        }))
    }

    async fn one_soon(&self, _: OneSoon, red: Result<Red, TimedOut>, cx: &StepContext) -> StepResult<OneSoon> {
        self.once(cx)?;
        Ok(done(red.map_or("nothing".into(), |red| red.n.to_string())))
    }
}

impl Desk {
    fn once(&self, cx: &StepContext) -> Result<(), StepError> {
        if cx.attempt() == 0 { Err(StepError::new("not yet")) } else { Ok(()) }
    }
}

/// Doubles; what is odd fails.
#[durable_job(queue = "ours", retry(attempts = 1))]
pub async fn double(_desk: &Desk, number: u64) -> Result<u64, StepError> {
    if number % 2 == 1 { Err(StepError::new("odd")) } else { Ok(2 * number) }
}

/// Waits for its children.
#[durable_fsm(output(String), handler(Desk), queue = "ours")]
pub enum Family {
    #[step(start, next(Gather))]
    Split { numbers: Vec<u64>, far: bool },
    #[step(join(Double), done)]
    Gather {},
}

impl FamilySteps for Desk {
    async fn split(&self, step: Split, _: &StepContext) -> StepResult<Split> {
        let queue = if step.far { "theirs" } else { "ours" };
        Ok(fan_out(Gather {}).children(step.numbers.into_iter().map(|n| Double::start(n).queue(queue))).into())
    }

    async fn gather(&self, _: Gather, joined: Joined<Double>, _: &StepContext) -> StepResult<Gather> {
        let each = joined.each().await?.into_iter().map(|child| child.map_or_else(|f| f.reason, |n| n.to_string()));
        let counts = joined.counts();
        let each: Vec<String> = each.collect();
        Ok(done(format!("{} of {}: {}", counts.done + counts.failed, counts.started, each.join(" "))))
    }
}
