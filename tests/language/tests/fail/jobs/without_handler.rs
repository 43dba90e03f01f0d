//# the first argument of a job borrows its handler: `shop: &Shop`
use gen_durable::prelude::*;

#[durable_job]
async fn pick(_sku: u64) -> Result<(), StepError> {
    Ok(())
}

fn main() {}
