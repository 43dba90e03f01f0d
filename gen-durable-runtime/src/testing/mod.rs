//! Floor 4: the inline test kit. It works a machine to where it waits, by the engine's own parts, with a clock that the
//! test moves.

mod builder;
mod children;
mod drain;
mod kit;
mod look;
mod outcome;
mod place;
mod report;
mod step_run;
mod timeline;
mod within;

pub use builder::TestKitBuilder;
pub use drain::DrainError;
pub use kit::TestKit;
pub use look::Look;
pub use outcome::StepOutcome;
pub use step_run::StepRun;
pub use within::{TestConnection, TestTransaction};

/// What one row came to in [`TestKit::run_next`].
pub use crate::engine::Ran;
