//# a stored name has no `:`: it separates the name from a key
use gen_durable::prelude::*;

#[durable_fsm(name = "shop:keep")]
pub enum Keep {
    #[step(start, done)]
    Only,
}

fn main() {}
