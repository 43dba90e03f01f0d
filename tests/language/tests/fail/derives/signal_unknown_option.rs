//# unknown `#[signal]` option `nam`; did you mean `name`?
//# known options: `name`, `alias`, `crate`
use gen_durable::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Signal)]
#[signal(nam = "paid")]
pub struct Paid;

fn main() {}
