//# step `Reserve` has no transition to `Release`
use gen_durable::prelude::*;

pub struct Shop;
#[durable_fsm(output(u64), handler(Shop))]
pub enum Checkout {
    #[step(start, next(Pay))]
    Reserve { order: u64 },
    #[step(next(Ship, Release))]
    Pay { order: u64 },
    #[step(done)]
    Ship { order: u64 },
    #[step(done)]
    Release { order: u64 },
}

impl CheckoutSteps for Shop {
    async fn reserve(&self, step: Reserve, _cx: &StepContext) -> StepResult<Reserve> {
        Ok(goto(Release { order: step.order }))
    }
    async fn pay(&self, step: Pay, _cx: &StepContext) -> StepResult<Pay> {
        Ok(goto(Ship { order: step.order }))
    }
    async fn ship(&self, step: Ship, _cx: &StepContext) -> StepResult<Ship> {
        Ok(done(step.order))
    }
    async fn release(&self, step: Release, _cx: &StepContext) -> StepResult<Release> {
        Ok(done(step.order))
    }
}

fn main() {}
