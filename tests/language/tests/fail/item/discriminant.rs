//# a step has no discriminant: it is stored by its name
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step(start, done)]
    Only = 3,
}

fn main() {}
