//# `Receipt` cannot be stored: it is not `Serialize + Deserialize`
use gen_durable::prelude::*;

pub struct Shop;

pub struct Receipt;

#[durable_job]
async fn pick(_shop: &Shop) -> Result<Receipt, StepError> {
    Ok(Receipt)
}

fn main() {}
