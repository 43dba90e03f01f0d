//# `#[durable_fsm]` stands on an enum: its variants are the steps
use gen_durable::prelude::*;

#[durable_fsm]
pub struct Checkout {
    pub order: u64,
}

fn main() {}
