//# `Old` is not a durable machine
use gen_durable::prelude::*;

pub struct Old;

#[durable_fsm(version = 2, from(Old))]
pub enum Order {
    #[step(start, done)]
    Only,
}

impl From<Old> for Order {
    fn from(old: Old) -> Self {
        let Old = old;
        Order::Only
    }
}

fn main() {}
