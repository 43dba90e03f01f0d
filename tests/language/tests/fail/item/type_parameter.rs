//# a machine has no generics: its rows are stored under one name
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep<T> {
    #[step(start, done)]
    Only { value: T },
}

fn main() {}
