//# a rate limit says how much and how often: `#[rate_limit(allowed = 100, per = "1m")]`
use gen_durable::prelude::*;

#[derive(RateLimit)]
pub struct Mail;

fn main() {}
