//# cannot find type `Lok` in this scope
use gen_durable::prelude::*;

#[derive(ConcurrencyKey)]
#[concurrency(key(u64))]
pub struct Lock;

#[durable_fsm]
pub enum Keep {
    #[step(start, concurrency(Lok, by(order)), done)]
    Only { order: u64 },
}

fn main() {}
