//# `?` couldn't convert the error
use gen_durable::prelude::*;
use serde::{Deserialize, Serialize};

pub struct Shop;

#[derive(Serialize, Deserialize, Signal)]
pub struct Paid {
    pub amount: u64,
}

#[durable_fsm(output(u64), handler(Shop))]
pub enum Checkout {
    #[step(start, await(Paid), timeout = "15m", done)]
    Pay { order: u64 },
}

impl CheckoutSteps for Shop {
    async fn pay(&self, step: Pay, signal: Result<Paid, TimedOut>, _cx: &StepContext) -> StepResult<Pay> {
        let paid = signal?;
        Ok(done(step.order + paid.amount))
    }
}

fn main() {}
