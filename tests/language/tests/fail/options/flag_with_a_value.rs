//# `start` is written alone: `start`
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step(start = true, done)]
    Only,
}

fn main() {}
