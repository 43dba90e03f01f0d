//# `Paid` is not a signal
use gen_durable::prelude::*;

pub struct Paid;

#[derive(Signals)]
pub enum Event {
    Paid(Paid),
}

fn main() {}
