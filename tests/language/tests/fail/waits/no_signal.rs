//# `Paid` is not a signal
//# derive it: `#[derive(Signal, Serialize, Deserialize)]`
use gen_durable::prelude::*;

pub struct Shop;

pub struct Paid;
#[durable_fsm(output(u64), handler(Shop))]
pub enum Checkout {
    #[step(start, await(Paid), done)]
    Pay { order: u64 },
}

impl CheckoutSteps for Shop {
    async fn pay(&self, step: Pay, _signal: Paid, _cx: &StepContext) -> StepResult<Pay> {
        Ok(done(step.order))
    }
}

fn main() {}
