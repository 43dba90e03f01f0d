//# a job with `spawn(..)` returns its outcome: `-> Result<Outcome<Pick, T>, E>`, with `Ok(done(value).spawn(start(..)))`
use gen_durable::prelude::*;

pub struct Shop;

#[durable_job]
async fn audit(_shop: &Shop) -> Result<(), StepError> {
    Ok(())
}

#[durable_job(spawn(Audit))]
async fn pick(_shop: &Shop, _sku: u64) -> Result<(), StepError> {
    Ok(())
}

fn main() {}
