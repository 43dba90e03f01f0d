//# step `Pick` does not spawn machine `Audit`
//# add it to the annotation of `Pick`: `spawn(Audit, ..)`
use gen_durable::prelude::*;

pub struct Shop;

#[durable_job]
async fn audit(_shop: &Shop) -> Result<(), StepError> {
    Ok(())
}

#[durable_job]
async fn pick(_shop: &Shop, _sku: u64) -> Result<Outcome<Pick, ()>, StepError> {
    Ok(done(()).spawn(Audit::start()))
}

fn main() {}
