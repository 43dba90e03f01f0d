//# step `Pay` waits by itself, so it cannot be entered with `goto_after`
//# use `goto(Pay { .. })`
use gen_durable::prelude::*;
use serde::{Deserialize, Serialize};

pub struct Shop;

#[derive(Serialize, Deserialize, Signal)]
pub struct Paid {
    pub amount: u64,
}

#[durable_fsm(handler(Shop))]
pub enum Checkout {
    #[step(start, next(Pay))]
    Reserve,
    #[step(await(Paid), done)]
    Pay,
}

impl CheckoutSteps for Shop {
    async fn reserve(&self, _step: Reserve, _cx: &StepContext) -> StepResult<Reserve> {
        Ok(goto_after(Pay, std::time::Duration::from_secs(60)))
    }
    async fn pay(&self, _step: Pay, _signal: Paid, _cx: &StepContext) -> StepResult<Pay> {
        Ok(done(()))
    }
}

fn main() {}
