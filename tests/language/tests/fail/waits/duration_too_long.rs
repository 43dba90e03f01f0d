//# a duration is at most 100 years
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step(start, timeout = "36601d", done)]
    Only,
}

fn main() {}
