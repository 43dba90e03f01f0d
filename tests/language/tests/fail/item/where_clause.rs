//# a machine has no `where` clause
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep
where
    u64: Copy,
{
    #[step(start, done)]
    Only,
}

fn main() {}
