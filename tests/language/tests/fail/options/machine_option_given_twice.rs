//# `name` is given twice: keep one
use gen_durable::prelude::*;

#[durable_fsm(name = "a", name = "b")]
pub enum Keep {
    #[step(start, done)]
    Only,
}

fn main() {}
