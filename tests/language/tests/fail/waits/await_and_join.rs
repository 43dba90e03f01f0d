//# a step waits for signals or for children, not both: split it in two
use gen_durable::prelude::*;
use serde::{Deserialize, Serialize};

pub struct Shop;

#[durable_job]
async fn pick(_shop: &Shop, sku: u64) -> Result<u64, StepError> {
    Ok(sku)
}
#[derive(Serialize, Deserialize, Signal)]
pub struct Paid {
    pub amount: u64,
}

#[durable_fsm(output(u64), handler(Shop))]
pub enum Checkout {
    #[step(start, next(Pay))]
    Begin,
    #[step(await(Paid), join(Pick), done)]
    Pay { order: u64 },
}

impl CheckoutSteps for Shop {
    async fn begin(&self, _step: Begin, _cx: &StepContext) -> StepResult<Begin> {
        Ok(goto(Pay { order: 1 }))
    }
    async fn pay(&self, step: Pay, _signal: Paid, _cx: &StepContext) -> StepResult<Pay> {
        Ok(done(step.order))
    }
}

fn main() {}
