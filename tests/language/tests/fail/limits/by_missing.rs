//# this limit has a key, and no field is named for it
//# add `by(field)`: the key is `(u64,)`
use gen_durable::prelude::*;

#[derive(RateLimit)]
#[rate_limit(allowed = 100, per = "1m", burst = 20, key(u64))]
pub struct Carrier;

#[durable_fsm]
pub enum Keep {
    #[step(start, rate_limit(Carrier), done)]
    Only { order: u64 },
}

fn main() {}
