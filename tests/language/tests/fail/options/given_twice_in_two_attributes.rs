//# `done` is given twice: keep one
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step(start, done)]
    #[step(done)]
    Only,
}

fn main() {}
