//# a concurrency key is a unit struct: `struct Lock;`
use gen_durable::prelude::*;

#[derive(ConcurrencyKey)]
pub enum Lock {
    A,
}

fn main() {}
