//# a signal is a struct with named fields, or without any: its payload is a JSON object
use gen_durable::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Signal)]
pub struct Paid(u64);

fn main() {}
