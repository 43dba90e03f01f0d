//# no field `ordr` on type `&Data`
use gen_durable::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(RateLimit)]
#[rate_limit(allowed = 100, per = "1m", burst = 20, key(u64))]
pub struct Carrier;
#[derive(Serialize, Deserialize)]
pub struct Data {
    pub order: u64,
}

#[durable_fsm]
pub enum Keep {
    #[step(start, rate_limit(Carrier, by(ordr)), done)]
    Only(Data),
}

fn main() {}
