//# a job's argument is a plain name: it names the stored field
use gen_durable::prelude::*;

pub struct Shop;

#[durable_job]
async fn pick(_shop: &Shop, (_sku, _count): (u64, u64)) -> Result<(), StepError> {
    Ok(())
}

fn main() {}
