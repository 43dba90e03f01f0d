//# `deadline` needs `on_deadline(Step)`: where the machine goes then
use gen_durable::prelude::*;

#[durable_fsm(deadline = "30d")]
pub enum Checkout {
    #[step(start, next(Ship))]
    Reserve,
    #[step(next(Release))]
    Ship,
    #[step(done)]
    Release,
}

fn main() {}
