//# step `Reserve` can never finish: no path from it reaches a `#[step(done)]` step
//# nor from `Ship`
//# if that is its design, mark the machine `endless`
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Checkout {
    #[step(start, next(Ship))]
    Reserve,
    #[step(next(Reserve))]
    Ship,
}

fn main() {}
