//! A module that nobody references, in a crate that nobody calls.

use gen_durable::prelude::*;

use crate::FarHands;

#[durable_job]
async fn far_attic(_: &FarHands, n: u64) -> Result<u64, StepError> {
    Ok(n)
}
