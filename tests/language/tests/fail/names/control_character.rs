//# a stored name has no control characters
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step(start, done, name = "on\nly")]
    Only,
}

fn main() {}
