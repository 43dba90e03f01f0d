//# `Hold` cannot be stored: it is not `Serialize + Deserialize`
use gen_durable::prelude::*;

pub struct Hold;

#[durable_fsm]
pub enum Keep {
    #[step(start, done)]
    Only(Hold),
}

fn main() {}
