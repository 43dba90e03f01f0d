//# `by()` is empty: write `by(field, ..)`
use gen_durable::prelude::*;

#[derive(RateLimit)]
#[rate_limit(allowed = 100, per = "1m", burst = 20, key(u64))]
pub struct Carrier;

#[durable_fsm]
pub enum Keep {
    #[step(start, rate_limit(Carrier, by()), done)]
    Only { order: u64 },
}

fn main() {}
