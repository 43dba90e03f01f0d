//# method `release` is not a member of trait `CheckoutSteps`
//# cannot find type `Release` in this scope
//# missing: `free`
//# errors: 4
use gen_durable::prelude::*;

pub struct Shop;

#[durable_fsm(output(u64), handler(Shop))]
pub enum Checkout {
    #[step(start, next(Free))]
    Reserve { order: u64 },
    #[step(done)]
    Free { order: u64 },
}

impl CheckoutSteps for Shop {
    async fn reserve(&self, step: Reserve, _cx: &StepContext) -> StepResult<Reserve> {
        Ok(goto(Free { order: step.order }))
    }
    async fn release(&self, step: Release, _cx: &StepContext) -> StepResult<Release> {
        Ok(done(step.order))
    }
}

fn main() {}
