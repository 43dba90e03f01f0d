//! When a schedule fires: its slots, and what to do about those that have come. Pure arithmetic on moments.

#[cfg(feature = "client")]
mod cron;
#[cfg(feature = "client")]
mod decide;
mod recurrence;
#[cfg(feature = "client")]
mod slots;
#[cfg(feature = "client")]
mod wall;

#[cfg(feature = "client")]
pub use decide::{Decision, LATE, decide};
pub use recurrence::Recurrence;
#[cfg(feature = "client")]
pub use slots::Slots;
