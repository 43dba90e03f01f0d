//! Floor 3: carries instances from step to step. Names no database.

mod attempt;
mod backoff;
mod bell;
mod boot;
mod cancelling;
mod catalog;
mod children;
mod committer;
mod config;
mod executor;
mod failing;
mod held;
mod identity;
#[cfg(feature = "testing")]
mod inline;
mod leaving;
mod limiter;
mod listener;
mod pauses;
mod presence;
mod retention;
mod running;
mod scheduler;
mod schedules;
mod shared;
mod shares;
mod stats;
mod sweeper;
mod takeover;
mod timetable;
mod waker;

pub use catalog::{Catalog, Handlers, RunStep};
pub use config::EngineConfig;
#[cfg(feature = "testing")]
pub use inline::{Inline, Next, Ran};
pub use limiter::define as define_limits;
pub use running::Engine;
pub use stats::Stats;
