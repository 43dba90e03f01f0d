//# step `Release` is under `#[cfg]`: no catch and no exit can lead there
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Checkout {
    #[step(start, catch(Release), done)]
    Reserve,
    #[cfg(not(windows))]
    #[step(done)]
    Release,
}

fn main() {}
