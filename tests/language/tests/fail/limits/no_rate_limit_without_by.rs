//# `Shop` is not a rate limit
//# derive it on a unit struct: `#[derive(RateLimit)] #[rate_limit(allowed = 100, per = "1m")]`
use gen_durable::prelude::*;

pub struct Shop;

#[durable_fsm]
pub enum Keep {
    #[step(start, rate_limit(Shop), done)]
    Only,
}

fn main() {}
