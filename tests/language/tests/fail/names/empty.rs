//# a stored name has 1 to 200 bytes
use gen_durable::prelude::*;

#[durable_fsm(name = "")]
pub enum Keep {
    #[step(start, done)]
    Only,
}

fn main() {}
