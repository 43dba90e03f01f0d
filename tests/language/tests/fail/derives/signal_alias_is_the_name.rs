//# signal `Paid` is stored as "paid" already
use gen_durable::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Signal)]
#[signal(alias = "paid")]
pub struct Paid;

fn main() {}
