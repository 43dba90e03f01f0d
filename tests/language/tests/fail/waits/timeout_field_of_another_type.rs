//# expected `&Duration`, found `&u64`
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step(start, timeout(after), done)]
    Only { after: u64 },
}

fn main() {}
