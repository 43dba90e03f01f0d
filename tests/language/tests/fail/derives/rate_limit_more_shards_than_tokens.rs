//# 8 shards share 4 tokens: each needs at least one
use gen_durable::prelude::*;

#[derive(RateLimit)]
#[rate_limit(allowed = 4, per = "1m", shards = 8)]
pub struct Mail;

fn main() {}
