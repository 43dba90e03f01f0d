use gen_durable::prelude::*;

use super::Nothing;

#[durable_fsm(handler(Nothing))]
pub enum Noop {
    #[step(start, done)]
    Only { left: u32 },
}

#[durable_fsm(handler(Nothing))]
pub enum Chain {
    #[step(start, next(Link), done)]
    Link { left: u32 },
}

/// Carries so much.
#[durable_fsm(handler(Nothing))]
pub enum Laden {
    #[step(start, done)]
    Carry { body: String },
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

impl LadenSteps for Nothing {
    async fn carry(&self, _: Carry, cx: &StepContext) -> StepResult<Carry> {
        self.end(cx);
        Ok(done(()))
    }
}
