//# step `Only` has weight 50, but one bucket of rate limit `Carrier` never holds so many tokens
use gen_durable::prelude::*;

#[derive(RateLimit)]
#[rate_limit(allowed = 100, per = "1m", burst = 20, key(u64))]
pub struct Carrier;

#[durable_fsm]
pub enum Keep {
    #[step(start, rate_limit(Carrier, by(order), weight = 50), done)]
    Only { order: u64 },
}

fn main() {}
