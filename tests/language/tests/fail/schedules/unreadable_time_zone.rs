//# is no time zone
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step(start, cron = "0 3 * * *", tz = "Berlin time", done)]
    Only,
}

impl From<gen_durable::Slot> for Only {
    fn from(_: gen_durable::Slot) -> Self {
        Only
    }
}

fn main() {}
