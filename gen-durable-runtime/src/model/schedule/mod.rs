//! When a schedule fires: its slots, and what to do about those that have come. Pure arithmetic on moments.

mod cron;
mod decide;
mod recurrence;
mod wall;

pub use decide::{Decision, LATE, decide};
pub use recurrence::{Recurrence, Slots};
