//! Floor 4: starts instances, sends signals, waits for results, looks at what stands.

mod cancel;
mod children;
mod connect;
mod ear;
mod gather;
mod handle;
mod inspect;
mod limits;
mod queues;
mod restart;
mod retry;
mod schedule;
mod schedules;
mod signal;
mod signal_or_start;
mod start;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod transaction;
mod wait;
mod waiter;
mod waits;

pub use cancel::CancelReport;
pub use children::ChildList;
pub use connect::{Client, ClientOptions};
pub use handle::Handle;
pub use limits::{KeySnapshot, Limit, LimitSnapshot, SetBy};
pub use queues::QueueSnapshot;
pub use retry::RetryReport;
pub use schedule::Schedule;
pub use schedules::ScheduleSnapshot;
pub use signal::{SignalReceipt, Signalling};
pub use signal_or_start::SignalOrStart;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub use transaction::{CallersConnection, InTransaction};
pub use wait::{ForEnd, ForPlace, Seen, Wait, WaitError};
