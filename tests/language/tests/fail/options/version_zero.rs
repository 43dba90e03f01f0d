//# `version` is at least 1
use gen_durable::prelude::*;

#[durable_fsm(version = 0)]
pub enum Keep {
    #[step(start, done)]
    Only,
}

fn main() {}
