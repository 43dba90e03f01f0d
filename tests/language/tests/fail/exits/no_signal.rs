//# `Stopped` is not a signal
use gen_durable::prelude::*;

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
impl From<gen_durable::Received<Checkout, Stopped>> for Release {
    fn from(_: gen_durable::Received<Checkout, Stopped>) -> Self {
        Release
    }
}

fn main() {}
