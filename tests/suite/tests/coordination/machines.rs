//! The machines of these promises.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU32, Ordering},
};
use std::time::Duration;

use gen_durable::{Partial, TimedOut, To, prelude::*};
use serde::{Deserialize, Serialize};

/// What the handlers did.
#[derive(Default)]
pub struct Hands {
    pub notes: Mutex<Vec<String>>,
    /// How often a join step of [`Family`] failed on purpose.
    pub failed: AtomicU32,
}

impl Hands {
    pub fn note(&self, text: impl Into<String>) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(text.into());
    }

    pub fn notes(&self) -> Vec<String> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Doubles; fails for odd numbers where told; takes its time.
#[durable_job(retry(attempts = 1))]
pub async fn double(_hands: &Hands, number: u64, odd_fails: bool, pause_ms: u64) -> Result<u64, StepError> {
    tokio::time::sleep(Duration::from_millis(pause_ms)).await;
    if odd_fails && number % 2 == 1 { Err(StepError::new(format!("{number} is odd"))) } else { Ok(2 * number) }
}

/// One of a kind.
#[durable_job(key(name))]
pub async fn single(_hands: &Hands, name: String) -> Result<String, StepError> {
    Ok(name.to_uppercase())
}

/// What a join saw: of each child the result or the failure; started, done, failed; whether it was complete.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    pub children: Vec<Result<u64, (u32, String)>>,
    pub counts: (u64, u64, u64),
    pub complete: bool,
}

pub async fn seen(joined: &Joined<Double>) -> Result<Seen, StepError> {
    let each = joined.each().await?.into_iter().map(|c| c.map_err(|f| (f.index, f.reason)));
    let counts = joined.counts();
    let counts = (counts.started, counts.done, counts.failed);
    Ok(Seen { children: each.collect(), counts, complete: joined.complete() })
}

#[durable_fsm(output(Vec<Seen>), handler(Hands))]
pub enum Family {
    #[step(start, next(Gather))]
    Split { numbers: Vec<u64>, odd_fails: bool, fails: u32, rounds: u32 },
    #[step(join(Double), next(Again), done, retry(attempts = 5, backoff = "1ms"))]
    Gather { fails: u32, rounds: u32, all: Vec<Seen> },
    #[step(next(Gather))]
    Again { rounds: u32, all: Vec<Seen> },
}

impl FamilySteps for Hands {
    async fn split(&self, step: Split, _: &StepContext) -> StepResult<Split> {
        let Split { numbers, odd_fails, fails, rounds } = step;
        let children = numbers.into_iter().map(|n| Double::start(n, odd_fails, 0));
        Ok(fan_out(Gather { fails, rounds, all: vec![] }).children(children).into())
    }

    async fn gather(&self, step: Gather, joined: Joined<Double>, cx: &StepContext) -> StepResult<Gather> {
        let now = seen(&joined).await?;
        self.note(format!("{now:?}"));
        if cx.attempt() < step.fails {
            return Err(StepError::new("not yet"));
        }
        let all = [step.all, vec![now]].concat();
        if step.rounds > 0 { Ok(goto(Again { rounds: step.rounds - 1, all })) } else { Ok(done(all)) }
    }

    async fn again(&self, step: Again, _: &StepContext) -> StepResult<Again> {
        let Again { rounds, all } = step;
        let child = Double::start(u64::from(rounds) + 100, false, 0);
        Ok(fan_out(Gather { fails: 0, rounds, all }).children([child]).into())
    }
}

/// Goes on with the first few, or when its time is up.
#[durable_fsm(output(Vec<Seen>), handler(Hands))]
pub enum Race {
    #[step(start, next(First))]
    Gun { pauses: Vec<u64>, need: u32, odd_fails: bool, patience: Duration },
    #[step(join(Double), quorum(need), rest = "leave", timeout(patience), next(Second))]
    First { need: u32, patience: Duration },
    #[step(join(Double), done)]
    Second { first: Seen },
}

impl RaceSteps for Hands {
    async fn gun(&self, step: Gun, _: &StepContext) -> StepResult<Gun> {
        let Gun { pauses, need, odd_fails, patience } = step;
        let children = (0..).zip(pauses).map(|(n, pause)| Double::start(n, odd_fails, pause));
        Ok(fan_out(First { need, patience }).children(children).into())
    }

    async fn first(&self, _: First, joined: Joined<Double>, _: &StepContext) -> StepResult<First> {
        let first = seen(&joined).await?;
        Ok(fan_out(Second { first }).children([Double::start(50, false, 400)]).into())
    }

    async fn second(&self, step: Second, joined: Joined<Double>, _: &StepContext) -> StepResult<Second> {
        Ok(done(vec![step.first, seen(&joined).await?]))
    }
}

/// Children of two machines, one of which may stand already; a tree of itself.
#[durable_fsm(output(u64), handler(Hands))]
pub enum Tree {
    #[step(start, next(Grown))]
    Grow { depth: u32, width: u32 },
    #[step(join(Tree, Single), done)]
    Grown { depth: u32 },
}

impl TreeSteps for Hands {
    async fn grow(&self, step: Grow, _: &StepContext) -> StepResult<Grow> {
        let Grow { depth, width } = step;
        let below = if depth > 0 { width } else { 0 };
        let trees = (0..below).map(|_| start(Grow { depth: depth - 1, width }));
        let leaf = Single::start(format!("depth {depth}"));
        Ok(fan_out(Grown { depth }).children(trees).children([leaf]).into())
    }

    async fn grown(&self, _: Grown, joined: (Joined<Tree>, Joined<Single>), _: &StepContext) -> StepResult<Grown> {
        let below: u64 = joined.0.results().await?.iter().sum();
        Ok(done(below + 1))
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Signal)]
pub struct Red {
    pub n: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Signal)]
pub struct Blue {
    pub n: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Signal)]
pub struct Green {}

/// Waits for several signals, in each way there is.
#[durable_fsm(output(String), handler(Hands))]
pub enum Waits {
    #[step(start, await(all(Red, Blue)), done)]
    Both { name: String },
    #[step(start, key(name), await(Red, count = 3), timeout(patience), done)]
    Three { name: String, patience: Duration },
    #[step(start, await(all(Red, Blue)), timeout(patience), done)]
    BothSoon { patience: Duration },
    #[step(start, await(Blue, Red, biased), timeout = "1h", done)]
    Prefers { settle: bool },
}

impl WaitsSteps for Hands {
    async fn both(&self, _: Both, signals: BothSignals, _: &StepContext) -> StepResult<Both> {
        Ok(done(format!("{} {}", signals.red.n, signals.blue.n)))
    }

    async fn three(
        &self,
        _: Three,
        signals: Result<Vec<Red>, Partial<Vec<Red>>>,
        _: &StepContext,
    ) -> StepResult<Three> {
        let text = |reds: Vec<Red>| reds.iter().map(|r| r.n.to_string()).collect::<Vec<_>>().join(" ");
        Ok(done(match signals {
            Ok(reds) => text(reds),
            Err(partial) => format!("only {}", text(partial.received)),
        }))
    }

    async fn both_soon(
        &self,
        _: BothSoon,
        signals: Result<BothSoonSignals, Partial<(Option<Red>, Option<Blue>)>>,
        _: &StepContext,
    ) -> StepResult<BothSoon> {
        Ok(done(match signals {
            Ok(both) => format!("{} {}", both.red.n, both.blue.n),
            Err(partial) => format!("{:?}", partial.received),
        }))
    }

    async fn prefers(
        &self,
        _: Prefers,
        signal: Result<PrefersSignal, TimedOut>,
        _: &StepContext,
    ) -> StepResult<Prefers> {
        Ok(done(match signal {
            Ok(PrefersSignal::Blue(blue)) => format!("blue {}", blue.n),
            Ok(PrefersSignal::Red(red)) => format!("red {}", red.n),
            Err(TimedOut) => "late".into(),
        }))
    }
}

/// Starts another, and tells one that waits, with one outcome.
#[durable_fsm(output(u32), handler(Hands))]
pub enum Teller {
    #[step(start, spawn(Single), next(Told), retry(attempts = 3, backoff = "1ms"))]
    Tell { to: String, fails: u32 },
    #[step(done)]
    Told,
}

impl TellerSteps for Hands {
    async fn tell(&self, step: Tell, cx: &StepContext) -> StepResult<Tell> {
        if cx.attempt() < step.fails {
            return Err(StepError::new("not yet"));
        }
        let to = To::<Waits>::key(step.to.as_str());
        let spawned = Single::start(format!("for {}", step.to));
        Ok(goto(Told).spawn(spawned).signal(&to, Red { n: 7 }).signal(&to, Red { n: 8 }))
    }

    async fn told(&self, _: Told, _: &StepContext) -> StepResult<Told> {
        self.failed.fetch_add(1, Ordering::Relaxed);
        Ok(done(1))
    }
}

/// Says the same as others may; its target hears it once. With children it fans out, without them it goes on.
#[durable_fsm(output(u32), handler(Hands), retry(attempts = 1))]
pub enum Herald {
    #[step(start, next(Proclaimed, Heard))]
    Proclaim { to: String, n: u32, key: String, children: u64 },
    #[step(done)]
    Proclaimed,
    #[step(join(Double), done)]
    Heard,
}

impl HeraldSteps for Hands {
    async fn proclaim(&self, step: Proclaim, _: &StepContext) -> StepResult<Proclaim> {
        let Proclaim { to, n, key, children } = step;
        let to = To::<Crowd>::key(to);
        Ok(match children {
            0 => goto(Proclaimed).signal_dedup(&to, Red { n }, key),
            _ => {
                let children = (0..children).map(|n| Double::start(n, false, 0));
                fan_out(Heard).children(children).signal_dedup(&to, Red { n }, key).into()
            }
        })
    }

    async fn proclaimed(&self, _: Proclaimed, _: &StepContext) -> StepResult<Proclaimed> {
        Ok(done(0))
    }

    async fn heard(&self, _: Heard, joined: Joined<Double>, _: &StepContext) -> StepResult<Heard> {
        Ok(done(u32::try_from(joined.counts().done).unwrap_or(u32::MAX)))
    }
}

/// Hears one after the other, until it is told that it was the last.
#[durable_fsm(output(Vec<u32>), handler(Hands))]
pub enum Crowd {
    #[step(start, key(name), await(Red, Green), next(Hear), done)]
    Hear { name: String, heard: Vec<u32> },
}

impl CrowdSteps for Hands {
    async fn hear(&self, step: Hear, signal: HearSignal, _: &StepContext) -> StepResult<Hear> {
        Ok(match signal {
            HearSignal::Red(red) => goto(Hear { heard: [step.heard, vec![red.n]].concat(), ..step }),
            HearSignal::Green(Green {}) => done(step.heard),
        })
    }
}

/// Leaves no history.
#[durable_fsm(output(u32), handler(Hands), history = "off")]
pub enum Silent {
    #[step(start, done)]
    Hush { n: u32 },
}

impl SilentSteps for Hands {
    async fn hush(&self, step: Hush, _: &StepContext) -> StepResult<Hush> {
        Ok(done(step.n))
    }
}
