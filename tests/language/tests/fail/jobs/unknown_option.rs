//# unknown `#[durable_job]` option `next`
use gen_durable::prelude::*;

pub struct Shop;

#[durable_job(next(Ship))]
async fn pick(_shop: &Shop, _sku: u64) -> Result<(), StepError> {
    Ok(())
}

fn main() {}
