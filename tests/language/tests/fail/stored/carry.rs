//# `Facts` cannot be stored: it is not `Serialize + Deserialize`
use gen_durable::prelude::*;

#[derive(Default)]
pub struct Facts;

#[durable_fsm(carry(Facts))]
pub enum Keep {
    #[step(start, done)]
    Only,
}

fn main() {}
