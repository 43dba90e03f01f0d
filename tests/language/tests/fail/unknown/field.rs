//# cannot find type `Hold` in this scope
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step(start, done)]
    Only { hold: Hold },
}

fn main() {}
