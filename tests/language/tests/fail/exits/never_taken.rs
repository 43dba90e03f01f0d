//# no step can take this exit: a step that is shielded, that an exit leads to, or that is reached from `Again` does not
use gen_durable::prelude::*;

#[durable_fsm(deadline = "30d", on_deadline(Again))]
pub enum Checkout {
    #[step(start, next(Ship))]
    Reserve,
    #[step(next(Reserve), done)]
    Ship,
    #[step(next(Reserve))]
    Again,
}

fn main() {}
