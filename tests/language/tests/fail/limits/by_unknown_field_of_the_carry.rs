//# no field `tenat` on type `&Facts`
use gen_durable::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Default, Serialize, Deserialize)]
pub struct Facts {
    pub tenant: u64,
}
#[derive(ConcurrencyKey)]
#[concurrency(key(u64))]
pub struct Lock;

#[durable_fsm(carry(Facts))]
pub enum Keep {
    #[step(start, concurrency(Lock, by(carry.tenat)), done)]
    Only,
}

fn main() {}
