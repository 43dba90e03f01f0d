//# a stored name has no `:`
use gen_durable::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Signal)]
#[signal(name = "a:b")]
pub struct Paid;

fn main() {}
