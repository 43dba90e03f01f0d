//# `quorum` stands beside `join(..)`, and this step has none
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step(start, quorum = 2, done)]
    Only,
}

fn main() {}
