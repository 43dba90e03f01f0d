//# method `collect` has 3 parameters but the declaration in trait `FulfilSteps::collect` has 4
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
    #[step(join(Pick), done)]
    Collect,
}

impl FulfilSteps for Shop {
    async fn split(&self, _step: Split, _cx: &StepContext) -> StepResult<Split> {
        Ok(fan_out(Collect).children([Pick::start(1)]).into())
    }
    async fn collect(&self, _step: Collect, _cx: &StepContext) -> StepResult<Collect> {
        Ok(done(()))
    }
}

fn main() {}
