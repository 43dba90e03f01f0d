//# expected `()`, found `(&u64,)`
use gen_durable::prelude::*;

#[derive(RateLimit)]
#[rate_limit(allowed = 100, per = "1m")]
pub struct Mail;

#[durable_fsm]
pub enum Keep {
    #[step(start, rate_limit(Mail, by(order)), done)]
    Only { order: u64 },
}

fn main() {}
