//! A binary that mentions the other crate, and uses nothing of it.

mod attic;

use gen_durable::prelude::*;
use registry_far as _;

struct MainHands;

#[durable_fsm(handler(MainHands))]
enum Near {
    #[step(start, done)]
    NearOnly,
}

impl NearSteps for MainHands {
    async fn near_only(&self, _: NearOnly, _: &StepContext) -> StepResult<NearOnly> {
        Ok(done(()))
    }
}

fn main() {
    registry::print();
}
