//# a step owns its data: a reference cannot be read back
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step(start, done)]
    Only { name: &'static str },
}

fn main() {}
