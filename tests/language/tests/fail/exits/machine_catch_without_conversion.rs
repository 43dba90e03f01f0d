//# step `Release` cannot catch a failed `Checkout`
//# write `impl From<Failed<Checkout>> for Release`
use gen_durable::prelude::*;

#[durable_fsm(catch(Release))]
pub enum Checkout {
    #[step(start, next(Ship))]
    Reserve,
    #[step(next(Release))]
    Ship,
    #[step(done)]
    Release,
}

fn main() {}
