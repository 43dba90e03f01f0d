//# a cycle of `catch`: Ship → Ship
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Checkout {
    #[step(start, next(Ship))]
    Reserve,
    #[step(catch(Ship), done)]
    Ship,
}

fn main() {}
