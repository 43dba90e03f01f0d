//# a duration is written like
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step(start, every = "hourly", done)]
    Only,
}

impl From<gen_durable::Slot> for Only {
    fn from(_: gen_durable::Slot) -> Self {
        Only
    }
}

fn main() {}
