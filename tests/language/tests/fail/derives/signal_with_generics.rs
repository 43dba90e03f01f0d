//# no generics here: it is stored under one name
use gen_durable::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Signal)]
pub struct Paid<T> {
    pub amount: T,
}

fn main() {}
