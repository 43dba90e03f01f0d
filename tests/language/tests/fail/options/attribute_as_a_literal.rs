//# `step` is written `#[step(start, next(..))]`
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step = "start"]
    Only,
}

fn main() {}
