//# `attempts` is written `attempts = 20`
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step(start, retry(attempts = "3"), done)]
    Only,
}

fn main() {}
