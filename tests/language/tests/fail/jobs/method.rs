//# a job is a function of its own
use gen_durable::prelude::*;

pub struct Shop;

impl Shop {
    #[durable_job]
    async fn pick(&self, _sku: u64) -> Result<(), StepError> {
        Ok(())
    }
}

fn main() {}
