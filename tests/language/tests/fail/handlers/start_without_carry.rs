//# this start needs its carry, a `Facts`
//# add `.carry(Facts { .. })` to the start
use gen_durable::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub struct Facts {
    pub tenant: u64,
}

#[durable_fsm(carry(Facts))]
pub enum Keep {
    #[step(start, done)]
    Only,
}

fn hand_over(_: impl gen_durable::Startable) {}

pub fn begin() {
    hand_over(start(Only));
}

fn main() {}
