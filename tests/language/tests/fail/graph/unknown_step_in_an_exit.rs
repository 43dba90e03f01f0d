//# machine `Checkout` has no step `Relase`; did you mean `Release`?
use gen_durable::prelude::*;

#[durable_fsm(on_cancel(Relase))]
pub enum Checkout {
    #[step(start, next(Release))]
    Reserve,
    #[step(done)]
    Release,
}

fn main() {}
