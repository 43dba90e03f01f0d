//# a job returns a `Result` whose error a step can return
use gen_durable::prelude::*;

pub struct Shop;

pub struct NoError;

#[durable_job]
async fn pick(_shop: &Shop, _sku: u64) -> Result<(), NoError> {
    Ok(())
}

fn main() {}
