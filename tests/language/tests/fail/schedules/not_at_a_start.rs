//# a schedule starts an instance: mark step `Ship` `start`
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Checkout {
    #[step(start, next(Ship))]
    Reserve,
    #[step(every = "1h", done)]
    Ship,
}

fn main() {}
