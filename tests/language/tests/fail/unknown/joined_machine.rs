//# cannot find type `Pikc` in this scope
use gen_durable::prelude::*;

pub struct Shop;

#[durable_job]
async fn pick(_shop: &Shop, sku: u64) -> Result<u64, StepError> {
    Ok(sku)
}

#[durable_fsm(handler(Shop))]
pub enum Fulfil {
    #[step(start, next(Collect))]
    Split,
    #[step(join(Pikc), done)]
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
