//# `priority` is out of range: its type is `i16`
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step(start, priority = 40000, done)]
    Only,
}

fn main() {}
