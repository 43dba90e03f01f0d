use gen_durable::prelude::*;

use super::Nothing;

#[derive(Debug, serde::Serialize, serde::Deserialize, Signal)]
pub struct Go {}

/// Parked from the start.
#[durable_fsm(handler(Nothing))]
pub enum Parked {
    #[step(start, await(Go), done)]
    Asleep {},
}

impl ParkedSteps for Nothing {
    async fn asleep(&self, _: Asleep, _: Go, cx: &StepContext) -> StepResult<Asleep> {
        self.end(cx);
        Ok(done(()))
    }
}
