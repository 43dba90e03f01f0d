//# a weight or quorum field is an unsigned integer, not `i64`
use gen_durable::prelude::*;

#[derive(RateLimit)]
#[rate_limit(allowed = 100, per = "1m", burst = 20, key(u64))]
pub struct Carrier;

#[durable_fsm]
pub enum Keep {
    #[step(start, rate_limit(Carrier, by(order), weight(tokens)), done)]
    Only { order: u64, tokens: i64 },
}

fn main() {}
