//! The smallest program a user writes, for the tests of the command line.
#![allow(unreachable_pub, missing_debug_implementations)] // as in a user's crate

use std::time::Duration;

use gen_durable::{Client, Command, Slot, prelude::*};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Signal)]
pub struct Paid {
    pub payment: u64,
}

/// Waits for its payment.
#[durable_fsm(output(u64), handler(Shop))]
pub enum Order {
    #[step(start, key(order), next(AwaitPayment, Slow))]
    Reserve { order: u64 },
    #[step(await(Paid), timeout = "15m", done)]
    AwaitPayment { order: u64 },
    #[step(done)]
    Slow { seconds: u64 },
}

/// Waits for its orders.
#[durable_fsm(output(u64), handler(Shop))]
pub enum Parcel {
    #[step(start, next(Sent))]
    Pack { pieces: u64 },
    #[step(join(Order), done)]
    Sent,
}

/// Due at the turn of the year.
#[durable_fsm(handler(Shop))]
pub enum Toast {
    #[step(start, cron = "0 0 1 1 *", tz = "Europe/Berlin", done)]
    Cheer,
}

impl From<Slot> for Cheer {
    fn from(_: Slot) -> Self {
        Self
    }
}

impl ToastSteps for Shop {
    async fn cheer(&self, _: Cheer, _: &StepContext) -> StepResult<Cheer> {
        Ok(done(()))
    }
}

#[derive(RateLimit)]
#[rate_limit(allowed = 60, per = "1m", burst = 4, key(u64))]
pub struct Stamps;

#[derive(ConcurrencyKey)]
#[concurrency(key(u64), limit = 3)]
pub struct Counter;

/// Goes by mail.
#[durable_fsm(handler(Shop), queue = "mail")]
pub enum Relay {
    #[step(start, rate_limit(Stamps, by(to), weight = 2), concurrency(Counter, by(to)), done)]
    Hand { to: u64 },
}

impl RelaySteps for Shop {
    async fn hand(&self, _: Hand, _: &StepContext) -> StepResult<Hand> {
        Ok(done(()))
    }
}

pub struct Shop;

impl Shop {
    async fn connect(client: &Client) -> Result<Self, String> {
        if client.url().is_empty() { Err("no url".into()) } else { Ok(Self) }
    }
}

impl OrderSteps for Shop {
    async fn reserve(&self, step: Reserve, _cx: &StepContext) -> StepResult<Reserve> {
        // An order above a thousand takes so many seconds less a thousand.
        Ok(match step.order.checked_sub(1_000) {
            Some(seconds) => goto(Slow { seconds }),
            None => goto(AwaitPayment { order: step.order }),
        })
    }
    async fn await_payment(
        &self,
        _step: AwaitPayment,
        signal: Result<Paid, TimedOut>,
        _cx: &StepContext,
    ) -> StepResult<AwaitPayment> {
        Ok(done(signal.map_or(0, |paid| paid.payment)))
    }
    async fn slow(&self, step: Slow, _cx: &StepContext) -> StepResult<Slow> {
        tokio::time::sleep(Duration::from_secs(step.seconds)).await;
        Ok(done(step.seconds))
    }
}

impl ParcelSteps for Shop {
    async fn pack(&self, step: Pack, _cx: &StepContext) -> StepResult<Pack> {
        Ok(fan_out(Sent).children((0..step.pieces).map(|order| start(Reserve { order }))).into())
    }
    async fn sent(&self, _step: Sent, joined: Joined<Order>, _cx: &StepContext) -> StepResult<Sent> {
        Ok(done(joined.counts().done))
    }
}

async fn echo(command: Command) -> Result<(), std::io::Error> {
    println!("{}", command.args().join(" "));
    Ok(())
}

gen_durable::worker!(Shop::connect, commands = [echo: "Say what was said"]);
