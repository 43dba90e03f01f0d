//# unknown `#[rate_limit]` option `alowed`; did you mean `allowed`?
use gen_durable::prelude::*;

#[derive(RateLimit)]
#[rate_limit(alowed = 1, per = "1m")]
pub struct Mail;

fn main() {}
