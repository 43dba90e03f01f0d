//# step `Release` cannot start from `Received<Checkout, Stopped>`
//# write `impl From<Received<Checkout, Stopped>> for Release`
use gen_durable::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Signal)]
pub struct Stopped;
#[durable_fsm(on(Stopped, Release))]
pub enum Checkout {
    #[step(start, next(Ship))]
    Reserve,
    #[step(next(Release))]
    Ship,
    #[step(done)]
    Release,
}

fn main() {}
