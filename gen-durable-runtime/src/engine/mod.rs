//! Floor 3: carries instances from step to step. Names no database.

mod backoff;
mod bell;
mod catalog;
mod committer;
mod config;
mod executor;
mod held;
mod identity;
mod listener;
mod running;
mod scheduler;
mod sweeper;

pub use catalog::{Catalog, Handlers, RunStep};
pub use config::EngineConfig;
pub use running::{Engine, Stats};
