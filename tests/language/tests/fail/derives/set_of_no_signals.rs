//# a set of signals has at least one
use gen_durable::prelude::*;

#[derive(Signals)]
pub enum Event {}

fn main() {}
