//# `key` names an instance when it starts: mark step `Ship` `start`, or remove it
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Checkout {
    #[step(start, next(Ship))]
    Reserve,
    #[step(key(order), done)]
    Ship { order: u64 },
}

fn main() {}
