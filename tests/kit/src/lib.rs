//! The machines of these tests.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use gen_durable::{Failed, Partial, prelude::*};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Serves them all; what it does is what the data says.
#[derive(Default)]
pub struct Hands {
    notes: Mutex<Vec<String>>,
}

impl Hands {
    pub fn notes(&self) -> Vec<String> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, text: impl Into<String>) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(text.into());
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Signal)]
pub struct Paid {
    pub amount: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Signal)]
pub struct Declined {}

/// Retries, a catch, a wait with a timeout, a key.
#[durable_fsm(output(String), handler(Hands), steps(derive(Debug, PartialEq)))]
pub enum Parcel {
    #[step(start, key(order), next(Pay))]
    Reserve { order: u64, failures: u32 },
    #[step(await(Paid, Declined), timeout = "15m", next(Ship), done)]
    Pay { order: u64, failures: u32 },
    #[step(retry(attempts = 4, backoff = "10s"), catch(Release), done)]
    Ship { order: u64, failures: u32 },
    #[step(done)]
    Release { because: String },
}

impl From<Failed<Ship>> for Release {
    fn from(failed: Failed<Ship>) -> Self {
        Self { because: format!("{} after {}", failed.error, failed.attempts) }
    }
}

impl ParcelSteps for Hands {
    async fn reserve(&self, step: Reserve, _: &StepContext) -> StepResult<Reserve> {
        let Reserve { order, failures } = step;
        self.note(format!("reserve {order}"));
        Ok(goto(Pay { order, failures }))
    }

    async fn pay(&self, step: Pay, signal: Result<PaySignal, TimedOut>, _: &StepContext) -> StepResult<Pay> {
        let Pay { order, failures } = step;
        Ok(match signal {
            Ok(PaySignal::Paid(_)) => goto(Ship { order, failures }),
            Ok(PaySignal::Declined(_)) => done("declined".to_owned()),
            Err(TimedOut) => done("nobody paid".to_owned()),
        })
    }

    async fn ship(&self, step: Ship, cx: &StepContext) -> StepResult<Ship> {
        self.note(format!("ship {} {}", step.order, cx.attempt()));
        if cx.attempt() < step.failures {
            return Err(StepError::new("the carrier is down"));
        }
        Ok(done(format!("shipped at attempt {}", cx.attempt())))
    }

    async fn release(&self, step: Release, _: &StepContext) -> StepResult<Release> {
        Ok(done(step.because))
    }
}

/// Goes in circles: for ever, or so many times.
#[durable_fsm(handler(Hands))]
pub enum Circle {
    #[step(start, next(Round), done)]
    Round { left: Option<u32> },
}

impl CircleSteps for Hands {
    async fn round(&self, step: Round, _: &StepContext) -> StepResult<Round> {
        Ok(match step.left {
            Some(0) => done(()),
            left => goto(Round { left: left.map(|left| left - 1) }),
        })
    }
}

/// Delays, timers and a poll; ends with the times it saw.
#[durable_fsm(output(Vec<Timestamp>), handler(Hands))]
pub enum Nap {
    #[step(start, next(Awake))]
    Lie { seen: Vec<Timestamp> },
    #[step(next(Dream))]
    Awake { seen: Vec<Timestamp> },
    #[step(timeout = "1h", next(Poll))]
    Dream { seen: Vec<Timestamp> },
    #[step(done)]
    Poll { seen: Vec<Timestamp> },
}

impl NapSteps for Hands {
    async fn lie(&self, step: Lie, cx: &StepContext) -> StepResult<Lie> {
        Ok(goto_after(Awake { seen: also(step.seen, cx) }, Duration::from_secs(600)))
    }

    async fn awake(&self, step: Awake, cx: &StepContext) -> StepResult<Awake> {
        Ok(goto(Dream { seen: also(step.seen, cx) }))
    }

    async fn dream(&self, step: Dream, cx: &StepContext) -> StepResult<Dream> {
        Ok(goto(Poll { seen: also(step.seen, cx) }))
    }

    async fn poll(&self, step: Poll, cx: &StepContext) -> StepResult<Poll> {
        if cx.attempt() < 3 {
            return Ok(retry_in(Duration::from_secs(20)));
        }
        Ok(done(also(step.seen, cx)))
    }
}

fn also(seen: Vec<Timestamp>, cx: &StepContext) -> Vec<Timestamp> {
    [seen, vec![cx.now()]].concat()
}

/// A child: ends with its number, or fails.
#[durable_fsm(output(u64), handler(Hands))]
pub enum Photo {
    #[step(start, done, fail)]
    Develop { number: u64, fails: bool },
}

impl PhotoSteps for Hands {
    async fn develop(&self, step: Develop, cx: &StepContext) -> StepResult<Develop> {
        assert!(step.number < 1_000 || cx.attempt() > 0, "the lamp went out");
        self.note(format!("photo {}", step.number));
        Ok(if step.fails { fail("too dark") } else { done(step.number) })
    }
}

/// Fans out and joins, and spawns somebody to tell.
#[durable_fsm(output((u64, u64)), handler(Hands))]
pub enum Album {
    #[step(start, next(Bind))]
    Sort { photos: u64, dark: u64 },
    #[step(join(Photo), timeout = "1d", spawn(Postcard), done)]
    Bind,
}

impl AlbumSteps for Hands {
    async fn sort(&self, step: Sort, _: &StepContext) -> StepResult<Sort> {
        let photos = (0..step.photos).map(|number| start(Develop { number, fails: number < step.dark }));
        Ok(fan_out(Bind).children(photos).into())
    }

    async fn bind(&self, _: Bind, photos: Joined<Photo>, _: &StepContext) -> StepResult<Bind> {
        let counts = photos.counts();
        let text = format!("{} photos", counts.done);
        Ok(done((counts.done, counts.failed)).spawn(start(Write { text })))
    }
}

/// Spawned, in a queue of its own.
#[durable_fsm(queue = "post", handler(Hands), steps(derive(Debug, PartialEq)))]
pub enum Postcard {
    #[step(start, done)]
    Write { text: String },
}

impl PostcardSteps for Hands {
    async fn write(&self, step: Write, _: &StepContext) -> StepResult<Write> {
        self.note(format!("postcard: {}", step.text));
        Ok(done(()))
    }
}

/// Waits for several, and shares a count.
#[durable_fsm(output(u64), carry(Till), handler(Hands))]
pub enum Stall {
    #[step(start, await(Paid, count = 2), timeout = "1h", next(Close))]
    Open,
    #[step(done)]
    Close,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Till {
    pub coins: u64,
}

impl StallSteps for Hands {
    async fn open(
        &self,
        _: Open,
        paid: Result<Vec<Paid>, Partial<Vec<Paid>>>,
        till: &mut Till,
        _: &StepContext,
    ) -> StepResult<Open> {
        let paid = paid.unwrap_or_else(|partial| partial.received);
        till.coins += paid.iter().map(|paid| paid.amount).sum::<u64>();
        Ok(goto(Close))
    }

    async fn close(&self, _: Close, till: &mut Till, _: &StepContext) -> StepResult<Close> {
        Ok(done(till.coins))
    }
}
