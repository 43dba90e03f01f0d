//# step `Keep` has the name of its machine: both become a type
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step(start, done)]
    Keep,
}

fn main() {}
