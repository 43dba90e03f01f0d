//# step `Pick` cannot start from `Slot`
use gen_durable::prelude::*;

pub struct Shop;

#[durable_job(every = "1h")]
async fn pick(_shop: &Shop) -> Result<(), StepError> {
    Ok(())
}

fn main() {}
