//# a cycle of `catch`: Ship → Release → Ship
//# a step that fails for good must lead on to an end
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Checkout {
    #[step(start, next(Ship))]
    Reserve,
    #[step(catch(Release), next(Release))]
    Ship,
    #[step(catch(Ship), done)]
    Release,
}

fn main() {}
