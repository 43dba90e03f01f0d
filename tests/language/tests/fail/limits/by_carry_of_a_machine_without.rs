//# machine `Keep` has no carry: declare it, `carry(Type)`
use gen_durable::prelude::*;

#[derive(ConcurrencyKey)]
#[concurrency(key(u64))]
pub struct Lock;

#[durable_fsm]
pub enum Keep {
    #[step(start, concurrency(Lock, by(carry.tenant)), done)]
    Only,
}

fn main() {}
