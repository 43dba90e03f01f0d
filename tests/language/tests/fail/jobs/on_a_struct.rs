//# `#[durable_job]` stands on an async function
use gen_durable::prelude::*;

#[durable_job]
pub struct Pick;

fn main() {}
