//# `attempts` is at least 1
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step(start, retry(attempts = 0), done)]
    Only,
}

fn main() {}
