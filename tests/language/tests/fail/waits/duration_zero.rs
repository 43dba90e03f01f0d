//# a duration is above zero
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step(start, timeout = "0s", done)]
    Only,
}

fn main() {}
