//! A machine that parks.
#![allow(missing_debug_implementations)] // as in a user's crate

use gen_durable::{Client, prelude::*};
use serde::{Deserialize, Serialize};

/// What an order waits for.
#[derive(Debug, Serialize, Deserialize, Signal)]
pub struct Paid {
    pub payment: u64,
}

/// Waits for its payment.
#[durable_fsm(output(u64), handler(Shop))]
pub enum Order {
    #[step(start, key(order), next(AwaitPayment))]
    Reserve { order: u64 },
    #[step(await(Paid), done)]
    AwaitPayment { order: u64 },
}

pub struct Shop;

impl Shop {
    pub async fn connect(_: &Client) -> Result<Self, String> {
        Ok(Self)
    }
}

impl OrderSteps for Shop {
    async fn reserve(&self, step: Reserve, _cx: &StepContext) -> StepResult<Reserve> {
        Ok(goto(AwaitPayment { order: step.order }))
    }

    async fn await_payment(&self, step: AwaitPayment, paid: Paid, _cx: &StepContext) -> StepResult<AwaitPayment> {
        Ok(done(step.order * 100 + paid.payment))
    }
}
