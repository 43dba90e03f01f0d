//# `Vec<u8>` cannot be part of a key
use gen_durable::prelude::*;

#[derive(RateLimit)]
#[rate_limit(allowed = 4, per = "1m", key(Vec<u8>))]
pub struct Mail;

fn main() {}
