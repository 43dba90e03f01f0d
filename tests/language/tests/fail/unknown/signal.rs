//# cannot find type `Piad` in this scope
use gen_durable::prelude::*;
use serde::{Deserialize, Serialize};

pub struct Shop;

#[derive(Serialize, Deserialize, Signal)]
pub struct Paid {
    pub amount: u64,
}

#[durable_fsm(output(u64), handler(Shop))]
pub enum Checkout {
    #[step(start, await(Piad), timeout = "1m", done)]
    Pay { order: u64 },
}

impl CheckoutSteps for Shop {
    async fn pay(&self, step: Pay, _signal: Result<Paid, TimedOut>, _cx: &StepContext) -> StepResult<Pay> {
        Ok(done(step.order))
    }
}

fn main() {}
