//# `Fake` does not implement the steps of machine `Checkout`; write
//# impl CheckoutSteps for Fake {
use gen_durable::prelude::*;

#[durable_fsm(output(u64))]
pub enum Checkout {
    #[step(start, next(Ship))]
    Reserve { order: u64 },
    #[step(done)]
    Ship { order: u64 },
}

pub struct Fake;
gen_durable::register!(Checkout => Fake);

fn main() {}
