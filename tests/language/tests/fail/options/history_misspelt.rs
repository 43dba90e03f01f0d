//# `history` is written `history = "off"`
use gen_durable::prelude::*;

#[durable_fsm(history = "none")]
pub enum Keep {
    #[step(start, done)]
    Only,
}

fn main() {}
