//# this signal is in the set already: keep one
use gen_durable::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Signal)]
pub struct Paid {
    pub amount: u64,
}

#[derive(Signals)]
pub enum Event {
    Paid(Paid),
    Again(Paid),
}

fn main() {}
