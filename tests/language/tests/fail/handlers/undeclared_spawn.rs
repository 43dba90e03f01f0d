//# step `Reserve` does not spawn machine `Pick`
//# `spawn(Pick, ..)`
use gen_durable::prelude::*;

pub struct Shop;

#[durable_job]
async fn pick(_shop: &Shop, sku: u64) -> Result<u64, StepError> {
    Ok(sku)
}
#[durable_fsm(output(u64), handler(Shop))]
pub enum Checkout {
    #[step(start, next(Ship))]
    Reserve { order: u64 },
    #[step(done)]
    Ship { order: u64 },
}

impl CheckoutSteps for Shop {
    async fn reserve(&self, step: Reserve, _cx: &StepContext) -> StepResult<Reserve> {
        Ok(goto(Ship { order: step.order }).spawn(Pick::start(1)))
    }
    async fn ship(&self, step: Ship, _cx: &StepContext) -> StepResult<Ship> {
        Ok(done(step.order))
    }
}

fn main() {}
