//# `Pick` is not a durable machine
//# expected a `#[durable_fsm]` enum or a `#[durable_job]`
use gen_durable::prelude::*;

pub struct Shop;

pub struct Pick;

#[durable_fsm(handler(Shop))]
pub enum Fulfil {
    #[step(start, next(Collect))]
    Split,
    #[step(join(Pick), done)]
    Collect,
}

impl FulfilSteps for Shop {
    async fn split(&self, _step: Split, _cx: &StepContext) -> StepResult<Split> {
        Ok(fan_out(Collect).into())
    }
    async fn collect(&self, _step: Collect, _children: Joined<Pick>, _cx: &StepContext) -> StepResult<Collect> {
        Ok(done(()))
    }
}

fn main() {}
