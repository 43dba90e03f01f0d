//# a schedule has five fields
//# this one has 4
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step(start, cron = "0 3 * *", done)]
    Only,
}

impl From<gen_durable::Slot> for Only {
    fn from(_: gen_durable::Slot) -> Self {
        Only
    }
}

fn main() {}
