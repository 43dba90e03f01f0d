//# `Ship` stands twice in `next(..)`: keep one
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Checkout {
    #[step(start, next(Ship, Ship))]
    Reserve,
    #[step(done)]
    Ship,
}

fn main() {}
