//# `rest` stands beside `join(..)`, and this step has none
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step(start, rest = "cancel", done)]
    Only,
}

fn main() {}
