//# `store` is written `store = "postgres"` or `store = "sqlite"`
use gen_durable::prelude::*;

#[durable_fsm(store = "mysql")]
pub enum Keep {
    #[step(start, done)]
    Only,
}

fn main() {}
