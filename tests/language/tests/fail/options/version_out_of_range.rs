//# `version` is out of range: its type is `i32`
use gen_durable::prelude::*;

#[durable_fsm(version = 3000000000)]
pub enum Keep {
    #[step(start, done)]
    Only,
}

fn main() {}
