//# future cannot be sent between threads safely
use gen_durable::prelude::*;

pub struct Shop;

#[durable_job]
async fn pick(_shop: &Shop, _sku: u64) -> Result<(), StepError> {
    let local = std::rc::Rc::new(1);
    std::future::ready(()).await;
    let _ = local;
    Ok(())
}

fn main() {}
