//# step `Only` is stored as "only" already
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step(start, alias = "only", done)]
    Only,
}

fn main() {}
