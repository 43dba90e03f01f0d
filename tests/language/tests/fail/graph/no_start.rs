//# machine `Checkout` has no start step: mark one `#[step(start)]`
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Checkout {
    #[step(next(Ship))]
    Reserve,
    #[step(done)]
    Ship,
}

fn main() {}
