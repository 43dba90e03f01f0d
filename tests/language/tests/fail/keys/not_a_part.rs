//# `Vec<u8>` cannot be part of a key
//# integers, `bool`, `char`, strings and `#[derive(KeyPart)]` newtypes can
use gen_durable::prelude::*;

#[durable_fsm]
pub enum Keep {
    #[step(start, key(order), done)]
    Only { order: Vec<u8> },
}

fn main() {}
