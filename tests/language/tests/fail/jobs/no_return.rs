//# a job returns a `Result`
use gen_durable::prelude::*;

pub struct Shop;

#[durable_job]
async fn pick(_shop: &Shop, _sku: u64) {}

fn main() {}
