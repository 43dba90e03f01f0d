//# the field `25` is no hour: 0 to 23
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step(start, cron = "0 25 * * *", done)]
    Only,
}

impl From<gen_durable::Slot> for Only {
    fn from(_: gen_durable::Slot) -> Self {
        Only
    }
}

fn main() {}
