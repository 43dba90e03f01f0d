//# `Paid` cannot be stored: it is not `Serialize + Deserialize`
use gen_durable::prelude::*;

#[derive(Signal)]
pub struct Paid {
    pub amount: u64,
}

fn main() {}
