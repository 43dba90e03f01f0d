//! Floor 4: starts instances, sends signals, waits for results, looks at what stands.

mod connect;
mod handle;
mod inspect;
mod signal;
mod start;
#[cfg(feature = "postgres")]
mod transaction;
mod wait;
mod waits;

pub use connect::{Client, ClientOptions};
pub use handle::Handle;
pub use signal::{SignalReceipt, Signalling};
#[cfg(feature = "postgres")]
pub use transaction::InTransaction;
pub use wait::{Wait, WaitError};
