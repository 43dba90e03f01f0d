//# machine `Checkout` has no step `Relase`; did you mean `Release`?
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Checkout {
    #[step(start, catch(Relase), next(Release))]
    Reserve,
    #[step(done)]
    Release,
}

fn main() {}
