//! The same without a history.

use gen_durable::prelude::*;

use super::Nothing;

#[durable_fsm(name = "silent_noop", history = "off", handler(Nothing))]
pub enum Noop {
    #[step(start, done)]
    Only { left: u32 },
}

#[durable_fsm(name = "silent_chain", history = "off", handler(Nothing))]
pub enum Chain {
    #[step(start, next(Link), done)]
    Link { left: u32 },
}

impl NoopSteps for Nothing {
    async fn only(&self, _: Only, cx: &StepContext) -> StepResult<Only> {
        self.end(cx);
        Ok(done(()))
    }
}

impl ChainSteps for Nothing {
    async fn link(&self, step: Link, cx: &StepContext) -> StepResult<Link> {
        if step.left > 0 {
            return Ok(goto(Link { left: step.left - 1 }));
        }
        self.end(cx);
        Ok(done(()))
    }
}
