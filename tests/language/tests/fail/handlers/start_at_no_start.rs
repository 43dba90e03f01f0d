//# `Ship` is not a start step
//# mark the `Ship` variant `#[step(start)]`
use gen_durable::prelude::*;

#[durable_fsm(output(u64))]
pub enum Checkout {
    #[step(start, next(Ship))]
    Reserve { order: u64 },
    #[step(done)]
    Ship { order: u64 },
}

pub fn begin() {
    let _ = start(Ship { order: 1 });
}

fn main() {}
