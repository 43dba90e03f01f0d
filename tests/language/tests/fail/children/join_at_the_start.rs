//# a join step cannot start: nobody has started children yet
use gen_durable::prelude::*;

pub struct Shop;

#[durable_job]
async fn pick(_shop: &Shop, sku: u64) -> Result<u64, StepError> {
    Ok(sku)
}

#[durable_fsm]
pub enum Keep {
    #[step(start, join(Pick), done)]
    Only,
}

fn main() {}
