//# unknown `retry(..)` option `max`
//# known options: `attempts`, `backoff`, `cap`, `crashes`
use gen_durable::prelude::*;

pub struct Shop;

#[durable_job(retry(max = 3))]
async fn pick(_shop: &Shop, _sku: u64) -> Result<(), StepError> {
    Ok(())
}

pub fn begin() {
    let _ = Pick::start(1);
}

fn main() {}
