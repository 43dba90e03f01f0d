//# step `Ship` has no way out
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Checkout {
    #[step(start, next(Ship))]
    Reserve,
    Ship,
}

fn main() {}
