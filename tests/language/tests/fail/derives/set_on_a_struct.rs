//# a set of signals is an enum: `enum Event { PlanChanged(PlanChanged), .. }`
use gen_durable::prelude::*;

#[derive(Signals)]
pub struct Event;

fn main() {}
