//! Floor 2: the one seam to a database.

mod answers;
#[cfg(feature = "client")]
mod audience;
mod claiming;
#[cfg(feature = "sqlite")]
mod clock;
#[cfg(feature = "client")]
pub mod copy;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod displaced;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod fate;
#[cfg(feature = "testing")]
pub(crate) mod lent;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod limiting;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod lineage;
#[cfg(feature = "client")]
mod notifier;
#[cfg(feature = "client")]
mod open;
mod operators;
#[cfg(feature = "postgres")]
pub mod postgres;
mod reading;
mod retention;
#[cfg(feature = "client")]
mod said;
mod schedules;
mod schema_name;
mod seam;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod shown;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod wake_ups;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod work;
mod workers;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod written;

pub use answers::{Cancelling, Delivered, Delivery, Retrying, ToldChildren};
pub use claiming::{ClaimOrder, Claimed, Commits, Known, LimitDef, Renewed, Swept};
#[cfg(feature = "client")]
pub use notifier::Notifier;
#[cfg(feature = "client")]
pub use open::DatabaseOptions;
pub use operators::{KeyUse, QueueStanding, StoredLimit};
pub use reading::{CallerTransaction, ChildPage, Filter, KinPage, Standing};
pub use retention::{Ended, ExpiredKeys, KeyExpiry, Purge};
#[cfg(feature = "client")]
pub use said::{Became, News, Said, Steps};
pub use schedules::{
    DueSchedules, Fired, Firing, LastFire, PutSchedule, ScheduleChange, ScheduleDefinition, ScheduledStart, Schedules,
    StoredSchedule,
};
pub use schema_name::SchemaName;
pub use seam::*;
pub use wake_ups::{WakeUp, WakeUps};
#[cfg(feature = "worker")]
pub(crate) use workers::{CODE, CROWD, codes};
pub use workers::{LiveWorker, Stranger, WorkerEntry, WorkerStore};
