//# step `Release` cannot start from `Cancelled<Checkout>`
//# write `impl From<Cancelled<Checkout>> for Release`
use gen_durable::prelude::*;

#[durable_fsm(on_cancel(Release))]
pub enum Checkout {
    #[step(start, next(Ship))]
    Reserve,
    #[step(next(Release))]
    Ship,
    #[step(done)]
    Release,
}

fn main() {}
