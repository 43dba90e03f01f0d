//# step `KeepSteps` has the name of a type that the macro makes: `KeepSteps`
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step(start, done)]
    KeepSteps,
}

fn main() {}
