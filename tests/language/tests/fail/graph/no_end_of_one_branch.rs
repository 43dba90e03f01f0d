//# step `Wait` can never finish
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Checkout {
    #[step(start, next(Ship, Wait))]
    Reserve,
    #[step(done)]
    Ship,
    #[step(next(Wait))]
    Wait,
}

fn main() {}
