//# `shards` split a limit: `#[concurrency(limit = 64, shards = 8)]`
use gen_durable::prelude::*;

#[derive(ConcurrencyKey)]
#[concurrency(key(u64), shards = 8)]
pub struct Lock;

fn main() {}
