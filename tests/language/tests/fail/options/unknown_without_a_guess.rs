//# unknown `#[step]` option `colour`
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step(start, colour = "red", done)]
    Only,
}

fn main() {}
