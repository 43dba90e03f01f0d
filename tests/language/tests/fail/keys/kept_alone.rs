//# `key` is written `key(field, ..)` or `key(field, kept)`
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step(start, key(kept), done)]
    Only { order: u64 },
}

fn main() {}
