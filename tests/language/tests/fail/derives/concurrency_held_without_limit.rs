//# `held` needs a limit: `#[concurrency(limit = 8, held)]`
use gen_durable::prelude::*;

#[derive(ConcurrencyKey)]
#[concurrency(key(u64), held)]
pub struct Lock;

fn main() {}
