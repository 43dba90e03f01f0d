//# `next()` is empty: write `next(Step, ..)`
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Checkout {
    #[step(start, next(), done)]
    Reserve,
}

fn main() {}
