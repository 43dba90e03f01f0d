//# a schedule starts without a carry, and `Facts` has no default
use gen_durable::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub struct Facts {
    pub tenant: u64,
}

#[durable_fsm(carry(Facts))]
pub enum Keep {
    #[step(start, every = "1h", done)]
    Only,
}

impl From<gen_durable::Slot> for Only {
    fn from(_: gen_durable::Slot) -> Self {
        Only
    }
}

fn main() {}
