//# a job has no generics: its rows are stored under one name
use gen_durable::prelude::*;

pub struct Shop;

#[durable_job]
async fn pick<T>(_shop: &Shop, _sku: T) -> Result<(), StepError> {
    Ok(())
}

fn main() {}
