//# `Log` is not a durable machine
use gen_durable::prelude::*;

pub struct Log;

#[durable_fsm]
pub enum Keep {
    #[step(start, spawn(Log), done)]
    Only,
}

fn main() {}
