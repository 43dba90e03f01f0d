//# step `Reserve` has no transition to `Release`
//# declare the edge on the `Reserve` variant: `#[step(next(Release, ..))]`
use gen_durable::prelude::*;

pub struct Shop;

#[durable_fsm(output(u64), handler(Shop))]
pub enum Checkout {
    #[step(start, next(Ship))]
    Reserve { order: u64 },
    #[step(next(Release), done)]
    Ship { order: u64 },
    #[step(done)]
    Release { order: u64 },
}

impl CheckoutSteps for Shop {
    async fn reserve(&self, step: Reserve, _cx: &StepContext) -> StepResult<Reserve> {
        if step.order == 0 {
            return Ok(goto(Release { order: step.order }));
        }
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
