//# step `Reserve` can never finish: no path from it reaches a `#[step(done)]` step
use gen_durable::prelude::*;

pub struct Shop;
#[durable_fsm]
pub enum Loop {
    #[step(start, next(Other))]
    Reserve,
    #[step(next(Reserve))]
    Other,
}

fn main() {}
