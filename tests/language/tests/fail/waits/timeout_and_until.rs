//# `timeout` and `until` both bound the wait: keep one
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step(start, timeout = "1h", until(at), done)]
    Only { at: jiff::Timestamp },
}

fn main() {}
