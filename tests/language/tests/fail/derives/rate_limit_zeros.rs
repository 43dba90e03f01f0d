//# `allowed` is at least 1
//# `burst` is at least 1
//# `shards` is at least 1
//# errors: 3
use gen_durable::prelude::*;

#[derive(RateLimit)]
#[rate_limit(allowed = 0, per = "1m", burst = 0, shards = 0)]
pub struct Mail;

fn main() {}
