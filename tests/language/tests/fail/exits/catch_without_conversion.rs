//# step `Release` cannot catch a failed `Ship`
//# write `impl From<Failed<Ship>> for Release`
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Checkout {
    #[step(start, next(Ship))]
    Reserve,
    #[step(catch(Release), next(Release))]
    Ship,
    #[step(done)]
    Release,
}

fn main() {}
