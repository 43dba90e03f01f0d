//# `priority` is written `priority = 0`
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step(start, priority = URGENT, done)]
    Only,
}

fn main() {}
