//# a machine has no generics: its rows are stored under one name
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep<const N: usize> {
    #[step(start, done)]
    Only { values: [u8; N] },
}

fn main() {}
