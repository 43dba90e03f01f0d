//# step `Release` becomes the type `Release`, and here is step `Release` of machine `Checkout`
use gen_durable::prelude::*;

pub struct Shop;

#[durable_fsm]
pub enum Checkout {
    #[step(start, done)]
    Release { order: u64 },
}

#[durable_fsm]
pub enum Refund {
    #[step(start, done)]
    Release { order: u64 },
}

impl RefundSteps for Shop {
    async fn release(&self, step: Release, _cx: &StepContext) -> StepResult<Release> {
        let _ = step.order;
        Ok(done(()))
    }
}

fn main() {}
