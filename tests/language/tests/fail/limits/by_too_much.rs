//# expected a tuple with 1 element, found one with 2 elements
use gen_durable::prelude::*;

#[derive(RateLimit)]
#[rate_limit(allowed = 100, per = "1m", burst = 20, key(u64))]
pub struct Carrier;

#[durable_fsm]
pub enum Keep {
    #[step(start, rate_limit(Carrier, by(order, order)), done)]
    Only { order: u64 },
}

fn main() {}
