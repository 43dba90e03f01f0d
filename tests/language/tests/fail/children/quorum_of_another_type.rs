//# a weight or quorum field is an unsigned integer, not `String`
use gen_durable::prelude::*;

pub struct Shop;

#[durable_job]
async fn pick(_shop: &Shop, sku: u64) -> Result<u64, StepError> {
    Ok(sku)
}

#[durable_fsm]
pub enum Fulfil {
    #[step(start, next(Collect))]
    Split,
    #[step(join(Pick), quorum(enough), done)]
    Collect { enough: String },
}

fn main() {}
