//# step `Ship` has no way out: give it `next(..)`, or mark it `#[step(done)]`
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Checkout {
    #[step(start, next(Ship))]
    Reserve,
    #[step(retry(attempts = 3))]
    Ship,
}

fn main() {}
