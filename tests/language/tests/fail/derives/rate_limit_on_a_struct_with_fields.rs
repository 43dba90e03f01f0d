//# a rate limit is a unit struct: `struct Mail;`
use gen_durable::prelude::*;

#[derive(RateLimit)]
#[rate_limit(allowed = 1, per = "1m")]
pub struct Mail {
    pub sender: u64,
}

fn main() {}
