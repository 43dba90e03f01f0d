//# machine `Keep` is stored as "keep" already
use gen_durable::prelude::*;

#[durable_fsm(alias = "keep")]
pub enum Keep {
    #[step(start, done)]
    Only,
}

fn main() {}
