//# step `Only` has no field `ordr`; did you mean `order`?
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step(start, key(ordr), done)]
    Only { order: u64 },
}

fn main() {}
