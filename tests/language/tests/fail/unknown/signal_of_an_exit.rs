//# cannot find type `Halt` in this scope
use gen_durable::prelude::*;

#[durable_fsm(on(Halt, Release))]
pub enum Checkout {
    #[step(start, next(Ship))]
    Reserve,
    #[step(next(Release))]
    Ship,
    #[step(done)]
    Release,
}

fn main() {}
