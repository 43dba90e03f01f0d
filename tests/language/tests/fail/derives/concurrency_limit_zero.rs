//# `limit` is at least 1
use gen_durable::prelude::*;

#[derive(ConcurrencyKey)]
#[concurrency(key(u64), limit = 0)]
pub struct Lock;

fn main() {}
