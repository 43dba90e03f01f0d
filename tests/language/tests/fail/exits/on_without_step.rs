//# `on` is written `on(Signal, Step)`
use gen_durable::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Signal)]
pub struct Stopped;
#[durable_fsm(on(Stopped))]
pub enum Checkout {
    #[step(start, next(Ship))]
    Reserve,
    #[step(next(Release))]
    Ship,
    #[step(done)]
    Release,
}

fn main() {}
