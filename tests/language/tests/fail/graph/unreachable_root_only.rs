//# step `Refund` can never run: no step lists it in `next(..)`
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Checkout {
    #[step(start, done)]
    Reserve,
    #[step(next(Close))]
    Refund,
    #[step(done)]
    Close,
}

fn main() {}
