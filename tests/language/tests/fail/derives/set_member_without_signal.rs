//# a member of a set holds one signal: `Paid(Paid)`
use gen_durable::prelude::*;

#[derive(Signals)]
pub enum Event {
    Paid,
}

fn main() {}
