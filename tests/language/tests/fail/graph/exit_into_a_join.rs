//# step `Collect` waits for children: only `fan_out` leads there, no catch and no exit
use gen_durable::prelude::*;

pub struct Shop;

#[durable_job]
async fn pick(_shop: &Shop, sku: u64) -> Result<u64, StepError> {
    Ok(sku)
}
#[durable_fsm(on_cancel(Collect))]
pub enum Checkout {
    #[step(start, next(Collect))]
    Split,
    #[step(join(Pick), done)]
    Collect,
}

fn main() {}
