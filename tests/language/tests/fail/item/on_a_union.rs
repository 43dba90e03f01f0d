//# `#[durable_fsm]` stands on an enum: its variants are the steps
use gen_durable::prelude::*;

#[durable_fsm]
pub union Checkout {
    pub order: u64,
    pub other: i64,
}

fn main() {}
