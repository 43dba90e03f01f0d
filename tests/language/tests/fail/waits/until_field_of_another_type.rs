//# expected `&Timestamp`, found `&u64`
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step(start, until(at), done)]
    Only { at: u64 },
}

fn main() {}
