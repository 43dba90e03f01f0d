//# `Lock` is not a rate limit
use gen_durable::prelude::*;

#[derive(ConcurrencyKey)]
#[concurrency(key(u64))]
pub struct Lock;

#[durable_fsm]
pub enum Keep {
    #[step(start, rate_limit(Lock, by(order)), done)]
    Only { order: u64 },
}

fn main() {}
