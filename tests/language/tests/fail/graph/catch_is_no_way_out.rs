//# step `Reserve` has no way out
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Checkout {
    #[step(start, catch(Release))]
    Reserve,
    #[step(done)]
    Release,
}

fn main() {}
