use gen_durable::{prelude::*, start};

use super::{
    Nothing,
    plain::{Noop, Only},
};

/// Starts so many children, and joins them.
#[durable_fsm(handler(Nothing))]
pub enum Family {
    #[step(start, next(Join))]
    Parent { children: u32 },
    #[step(join(Noop), done)]
    Join {},
}

impl FamilySteps for Nothing {
    async fn parent(&self, step: Parent, _: &StepContext) -> StepResult<Parent> {
        let children = (0..step.children).map(|_| start(Only { left: 0 }));
        Ok(fan_out(Join {}).children(children).into())
    }

    async fn join(&self, _: Join, joined: Joined<Noop>, cx: &StepContext) -> StepResult<Join> {
        if joined.complete() {
            self.end(cx);
        }
        Ok(done(()))
    }
}
