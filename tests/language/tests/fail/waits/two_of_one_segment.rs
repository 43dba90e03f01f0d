//# two awaited signals are called `Paid`: import one `as` another name
use gen_durable::prelude::*;
use serde::{Deserialize, Serialize};

pub struct Shop;

pub mod card {
    #[derive(serde::Serialize, serde::Deserialize, gen_durable::Signal)]
    pub struct Paid;
}
#[derive(Serialize, Deserialize, Signal)]
pub struct Paid {
    pub amount: u64,
}

#[durable_fsm(output(u64), handler(Shop))]
pub enum Checkout {
    #[step(start, await(Paid, card::Paid), done)]
    Pay { order: u64 },
}

impl CheckoutSteps for Shop {
    async fn pay(&self, step: Pay, _signal: PaySignal, _cx: &StepContext) -> StepResult<Pay> {
        Ok(done(step.order))
    }
}

fn main() {}
