//# a machine has one key type: step `Reserve` has `u64`, step `Import` has `String`
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Checkout {
    #[step(start, key(order), done)]
    Reserve { order: u64 },
    #[step(start, key(order), done)]
    Import { order: String },
}

fn main() {}
