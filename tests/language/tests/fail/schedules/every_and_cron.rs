//# `every` and `cron` are two schedules: keep one
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step(start, every = "1h", cron = "0 3 * * *", done)]
    Only,
}

impl From<gen_durable::Slot> for Only {
    fn from(_: gen_durable::Slot) -> Self {
        Only
    }
}

fn main() {}
