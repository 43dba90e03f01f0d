//! Floor 1: what the macros implement and handlers use, and the registry of what is linked in.

mod awaits;
mod cancel;
mod charge;
mod context;
mod edges;
mod exits;
mod fan_out;
mod info;
mod joined;
mod key;
mod limits;
mod machine_trait;
mod outcome;
mod rate;
mod start;
mod step_error;
mod stored;
mod to;
mod tx;

pub mod quiet;
pub mod registry;
pub mod support;

pub use awaits::{Awaitable, Awaits, MemberIf, MemberOf, NoSlot, Partial, Signal, Signals, SlotNumber, TimedOut};
pub use cancel::{Cancel, Cancellation};
pub use charge::LimitKey;
#[cfg(feature = "testing")]
pub(crate) use charge::limit_key;
#[cfg(feature = "client")]
pub(crate) use charge::rate_config;
pub use context::{ContextParts, StepContext};
pub use edges::{ChildOf, Ends, EnteredByGoto, JoinStep, MayFail, OpenJoin, Spawns, StartStep, Transition, Unparked};
pub use exits::{Cancelled, Carried, Catches, Expired, Failed, Received, Slot, TakesOver, Upgrades, UpgradesCarry};
pub use fan_out::{FanOut, fan_out};
pub use info::*;
pub use joined::{ChildCounts, ChildFailed, ChildResult, ChildSource, Children, Joined, PageFuture};
pub use key::{AnyKey, IntoKey, Key, KeyPart, KeyText, Keyed, NoKey};
#[cfg(feature = "worker")]
pub(crate) use limits::limits_of_step;
pub use limits::{NamedLimit, NamedLimits, limits_of, linked_limits};
pub use machine_trait::{Machine, Output, ServedBy, Step};
pub use outcome::{Outcome, done, fail, goto, goto_after, retry_in};
pub use rate::{ConcurrencyKey, RateLimit};
pub use start::{CarryGiven, CarryOpen, DefaultCarry, ScheduledCarry, Start, Startable, start};
pub use step_error::{JobReturn, ResultExt, StepError, StepResult};
pub use stored::{Persist, Same};
pub use to::To;
pub use tx::{Tx, TxFuture, TxWork};
