//! Floor 4: a worker, from its handlers to its end.

mod builder;
mod run;
mod signals;

pub use builder::Worker;
pub use run::RunningWorker;
