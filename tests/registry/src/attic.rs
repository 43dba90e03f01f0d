//! A module that nobody references.

use gen_durable::prelude::*;

struct AtticHands;

#[durable_fsm(handler(AtticHands))]
enum Attic {
    #[step(start, done)]
    AtticOnly,
}

impl AtticSteps for AtticHands {
    async fn attic_only(&self, _: AtticOnly, _: &StepContext) -> StepResult<AtticOnly> {
        Ok(done(()))
    }
}
