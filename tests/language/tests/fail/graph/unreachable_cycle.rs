//# step `Refund` can never run: only `Close` leads here, and that can never run either
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Checkout {
    #[step(start, done)]
    Reserve,
    #[step(next(Close))]
    Refund,
    #[step(next(Refund), done)]
    Close,
}

fn main() {}
