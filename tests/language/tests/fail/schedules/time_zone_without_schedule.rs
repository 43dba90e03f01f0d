//# `tz` belongs to `every` or `cron`, and this step has neither
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step(start, tz = "Europe/Berlin", done)]
    Only,
}

fn main() {}
