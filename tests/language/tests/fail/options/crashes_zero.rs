//# `crashes` is at least 1
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step(start, retry(crashes = 0), done)]
    Only,
}

fn main() {}
