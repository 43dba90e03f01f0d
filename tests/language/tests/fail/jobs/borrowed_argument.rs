//# a job's argument is owned: it is stored with the job
use gen_durable::prelude::*;

pub struct Shop;

#[durable_job]
async fn pick(_shop: &Shop, _sku: &str) -> Result<(), StepError> {
    Ok(())
}

fn main() {}
