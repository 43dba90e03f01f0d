//# step `Release` cannot start from `Expired<Checkout>`
//# write `impl From<Expired<Checkout>> for Release`
use gen_durable::prelude::*;

#[durable_fsm(deadline = "30d", on_deadline(Release))]
pub enum Checkout {
    #[step(start, next(Ship))]
    Reserve,
    #[step(next(Release))]
    Ship,
    #[step(done)]
    Release,
}

fn main() {}
