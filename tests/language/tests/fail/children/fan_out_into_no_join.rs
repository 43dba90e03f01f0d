//# step `Collect` does not wait for children, so it cannot be entered with `fan_out`
use gen_durable::prelude::*;

pub struct Shop;

#[durable_fsm(handler(Shop))]
pub enum Fulfil {
    #[step(start, next(Collect))]
    Split,
    #[step(done)]
    Collect,
}

impl FulfilSteps for Shop {
    async fn split(&self, _step: Split, _cx: &StepContext) -> StepResult<Split> {
        Ok(fan_out(Collect).into())
    }
    async fn collect(&self, _step: Collect, _cx: &StepContext) -> StepResult<Collect> {
        Ok(done(()))
    }
}

fn main() {}
