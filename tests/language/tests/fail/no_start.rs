//# machine `Loop` has no start step: mark one `#[step(start)]`
use gen_durable::prelude::*;

pub struct Shop;
#[durable_fsm]
pub enum Loop {
    #[step(done)]
    Only,
}

fn main() {}
