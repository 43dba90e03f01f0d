//# a job returns a `Result`, or an alias of one
use gen_durable::prelude::*;

pub struct Shop;

pub struct Answer;

#[durable_job]
async fn pick(_shop: &Shop, _sku: u64) -> Answer {
    Answer
}

fn main() {}
