//# a step holds named fields, one data type `Variant(MyData)`, or nothing
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step(start, done)]
    Only(u64, u64),
}

fn main() {}
