//# a rate limit says how much and how often: `#[rate_limit(allowed = 100, per = "1m")]`
use gen_durable::prelude::*;

#[derive(RateLimit)]
#[rate_limit(per = "1m")]
pub struct Mail;

fn main() {}
