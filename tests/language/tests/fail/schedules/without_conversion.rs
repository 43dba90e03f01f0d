//# step `Only` cannot start from `Slot`
//# write `impl From<Slot> for Only`
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step(start, every = "1h", done)]
    Only,
}

fn main() {}
