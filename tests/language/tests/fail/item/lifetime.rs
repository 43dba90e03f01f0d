//# a machine has no generics: its rows are stored under one name
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep<'a> {
    #[step(start, done)]
    Only { name: &'a str },
}

fn main() {}
