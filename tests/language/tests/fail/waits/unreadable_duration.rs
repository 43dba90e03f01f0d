//# a duration is written like "500ms", "90s", "1h30m" or "7d" (units: ms s m h d w)
use gen_durable::prelude::*;
use serde::{Deserialize, Serialize};

pub struct Shop;

#[derive(Serialize, Deserialize, Signal)]
pub struct Paid {
    pub amount: u64,
}

#[durable_fsm(output(u64), handler(Shop))]
pub enum Checkout {
    #[step(start, await(Paid), timeout = "15 minutes", done)]
    Pay { order: u64 },
}

impl CheckoutSteps for Shop {
    async fn pay(&self, step: Pay, _signal: Result<Paid, TimedOut>, _cx: &StepContext) -> StepResult<Pay> {
        Ok(done(step.order))
    }
}

fn main() {}
