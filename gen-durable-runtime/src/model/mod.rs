//! Floor 0: what an instance is and what an outcome means. Pure: no I/O, no clock, no SQL.

mod bounded;
mod charge;
mod child;
mod claim;
mod effects;
mod entry;
mod history;
mod id;
mod invalid;
mod json;
mod near;
mod policy;
mod reason;
mod retention;
mod snapshot;
mod start;
mod terms;
mod transition;
mod verdict;

pub mod admission;
pub mod limits;
pub mod plan;
pub mod schedule;

pub use charge::Charge;
pub use child::Child;
pub use claim::{Claim, Parent, ReceivedSignal, Wake};
pub use effects::{Effects, Work};
pub use entry::{AwaitMode, ConcurrencySlot, Deadline, Entry, Exits, Join, RateTake, Wait};
pub use history::HistoryEntry;
pub use id::{ClaimToken, InstanceId};
pub use invalid::Invalid;
pub use json::Json;
pub use near::did_you_mean;
pub use policy::RetryPolicy;
pub use reason::{Reason, Surroundings, reasons};
pub use retention::{Cursor, Purged, Retention};
pub use snapshot::{Snapshot, Status};
pub use start::{SignalSpec, StartSpec, Started, Target};
pub use terms::LimitTerms;
pub use transition::{Advance, Change, Committed, HeldKey, Transition};
pub use verdict::{Failure, FailureKind, Verdict};
