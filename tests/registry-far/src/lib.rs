//! Machines in a crate that nobody calls: a binary that mentions it by `use registry_far as _;` has them all.

mod attic;

use gen_durable::prelude::*;

/// Serves them.
#[derive(Debug)]
pub struct FarHands;

/// In the crate's root.
#[durable_fsm(handler(FarHands))]
#[derive(Debug)]
pub enum Far {
    /// The only step.
    #[step(start, done)]
    FarOnly {
        /// Any data.
        n: u64,
    },
}

impl FarSteps for FarHands {
    async fn far_only(&self, _: FarOnly, _: &StepContext) -> StepResult<FarOnly> {
        Ok(done(()))
    }
}
