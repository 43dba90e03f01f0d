//# cannot find type `Recipt` in this scope
use gen_durable::prelude::*;

pub struct Shop;

#[durable_fsm(output(Recipt), handler(Shop))]
pub enum Checkout {
    #[step(start, next(Ship))]
    Reserve { order: u64 },
    #[step(done)]
    Ship { order: u64 },
}

impl CheckoutSteps for Shop {
    async fn reserve(&self, step: Reserve, _cx: &StepContext) -> StepResult<Reserve> {
        Ok(goto(Ship { order: step.order }))
    }
    async fn ship(&self, step: Ship, _cx: &StepContext) -> StepResult<Ship> {
        Ok(done(step.order))
    }
}

fn main() {}
