//! The machines of the schedule tests, each of whose instances tells its slot.
//!
//! Included by their worker binary and by the tests, not part of the library: a binary serves every machine that is linked
//! into it.
#![allow(dead_code, missing_debug_implementations, unreachable_pub)]

use gen_durable::{Slot, prelude::*};
use jiff::Timestamp;

/// The handler of them all.
#[derive(Clone, Copy)]
pub struct Clockwork;

/// Fires each second, by its annotation.
#[durable_fsm(handler(Clockwork))]
pub enum Tick {
    #[step(start, every = "1s", done)]
    Strike { at: Timestamp },
}

/// Fires as a client says.
#[durable_fsm(handler(Clockwork))]
pub enum Tock {
    #[step(start, done)]
    Chime { at: Timestamp, tenant: u64 },
}

impl From<Slot> for Strike {
    fn from(slot: Slot) -> Self {
        Self { at: slot.at }
    }
}

impl TickSteps for Clockwork {
    async fn strike(&self, _: Strike, _: &StepContext) -> StepResult<Strike> {
        Ok(done(()))
    }
}

impl TockSteps for Clockwork {
    async fn chime(&self, _: Chime, _: &StepContext) -> StepResult<Chime> {
        Ok(done(()))
    }
}
