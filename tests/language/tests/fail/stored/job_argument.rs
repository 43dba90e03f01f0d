//# `Hold` cannot be stored: it is not `Serialize + Deserialize`
use gen_durable::prelude::*;

pub struct Shop;

pub struct Hold;

#[durable_job]
async fn pick(_shop: &Shop, _hold: Hold) -> Result<(), StepError> {
    Ok(())
}

fn main() {}
