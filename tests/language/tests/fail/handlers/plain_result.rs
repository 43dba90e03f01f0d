//# expected `Result<Outcome<Ship, u64>, StepError>`, found `Result<u64, StepError>`
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
        Ok(goto(Ship { order: step.order }))
    }
    async fn ship(&self, step: Ship, _cx: &StepContext) -> Result<u64, StepError> {
        Ok(step.order)
    }
}

fn main() {}
