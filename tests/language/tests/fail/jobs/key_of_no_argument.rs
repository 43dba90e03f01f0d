//# job `Pick` has no argument `skuu`; did you mean `sku`?
//# arguments: `sku`
use gen_durable::prelude::*;

pub struct Shop;

#[durable_job(key(skuu))]
async fn pick(_shop: &Shop, sku: u64) -> Result<(), StepError> {
    let _ = sku;
    Ok(())
}

fn main() {}
