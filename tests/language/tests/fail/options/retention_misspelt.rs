//# unknown `retention(..)` option `finished`
use gen_durable::prelude::*;

#[durable_fsm(retention(finished = "7d"))]
pub enum Keep {
    #[step(start, done)]
    Only,
}

fn main() {}
