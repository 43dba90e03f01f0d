//# machine `Checkout` has no steps
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Checkout {}

fn main() {}
