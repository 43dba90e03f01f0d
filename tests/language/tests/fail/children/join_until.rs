//# `until` bounds an `await(..)` or is a timer; a join has `timeout`
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
    #[step(join(Pick), until(at), done)]
    Collect { at: jiff::Timestamp },
}

fn main() {}
