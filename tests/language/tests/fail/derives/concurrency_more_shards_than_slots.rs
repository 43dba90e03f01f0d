//# 8 shards share a limit of 4: each needs at least one
use gen_durable::prelude::*;

#[derive(ConcurrencyKey)]
#[concurrency(key(u64), limit = 4, shards = 8)]
pub struct Lock;

fn main() {}
