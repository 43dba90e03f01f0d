//# cannot find type `Fcats` in this scope
use gen_durable::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Default, Serialize, Deserialize)]
pub struct Facts {
    pub tenant: u64,
}

#[durable_fsm(carry(Fcats))]
pub enum Keep {
    #[step(start, done)]
    Only,
}

fn main() {}
