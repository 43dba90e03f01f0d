//# steps `Reserve` and `Ship` are both stored as "reserve": give one `name = ".."`
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Checkout {
    #[step(start, next(Ship))]
    Reserve,
    #[step(alias = "reserve", done)]
    Ship,
}

fn main() {}
