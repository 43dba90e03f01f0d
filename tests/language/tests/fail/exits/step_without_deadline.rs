//# `on_deadline` needs `deadline = ".."`: when it goes there
use gen_durable::prelude::*;

#[durable_fsm(on_deadline(Release))]
pub enum Checkout {
    #[step(start, next(Ship))]
    Reserve,
    #[step(next(Release))]
    Ship,
    #[step(done)]
    Release,
}

fn main() {}
