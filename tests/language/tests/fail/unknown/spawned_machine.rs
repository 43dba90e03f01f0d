//# cannot find type `Pikc` in this scope
use gen_durable::prelude::*;

pub struct Shop;

#[durable_job]
async fn pick(_shop: &Shop, sku: u64) -> Result<u64, StepError> {
    Ok(sku)
}

#[durable_fsm]
pub enum Keep {
    #[step(start, spawn(Pikc), done)]
    Only,
}

fn main() {}
