//# a field names its type: `impl Trait` cannot be stored
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step(start, done)]
    Only { value: impl Copy },
}

fn main() {}
