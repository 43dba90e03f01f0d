//! `use gen_durable::prelude::*;` brings what handlers and annotations need.
//!
//! Names that a step is likely to have (`Failed`, `Cancelled`, `Expired`, `Received`, `Slot`, `Start`) stand in the
//! crate's root only.

#[cfg(feature = "client")]
pub use crate::Client;
#[cfg(feature = "worker")]
pub use crate::Worker;
pub use crate::{
    ConcurrencyKey, FanOut, Joined, KeyPart, Machine, Outcome, Partial, RateLimit, ResultExt, Signal, Signals, Step,
    StepContext, StepError, StepResult, TimedOut, Transition, done, durable_fsm, durable_job, fail, fan_out, goto,
    goto_after, register, retry_in, start,
};
