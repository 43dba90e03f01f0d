//# step `Reserve` has no transition to `Reserve`
use gen_durable::prelude::*;

pub struct Shop;

#[durable_fsm(output(u64), handler(Shop))]
pub enum Checkout {
    #[step(start, next(Ship))]
    Reserve { order: u64 },
    #[step(done)]
    Ship { order: u64 },
}

impl CheckoutSteps for Shop {
    async fn reserve(&self, step: Reserve, _cx: &StepContext) -> StepResult<Reserve> {
        let outcome = if step.order > 5 { goto(Ship { order: 1 }) } else { goto(Reserve { order: 1 }) };
        Ok(outcome)
    }
    async fn ship(&self, step: Ship, _cx: &StepContext) -> StepResult<Ship> {
        Ok(done(step.order))
    }
}

fn main() {}
