//# a job is `async`
use gen_durable::prelude::*;

pub struct Shop;

#[durable_job]
fn pick(_shop: &Shop, _sku: u64) -> Result<(), StepError> {
    Ok(())
}

fn main() {}
