//# `tz` belongs to `cron`: an interval has no time zone
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step(start, every = "1h", tz = "Europe/Berlin", done)]
    Only,
}

impl From<gen_durable::Slot> for Only {
    fn from(_: gen_durable::Slot) -> Self {
        Only
    }
}

fn main() {}
