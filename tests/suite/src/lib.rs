//! What the promises are checked with: databases, hand-made rows, effects, worker processes.

mod bank;
#[cfg(feature = "postgres")]
mod bouncer;
mod cut;
mod database;
mod effects;
mod oracle;
mod patience;
mod process;
mod rows;
mod sql;
mod stores;
mod translate;
mod tx;
#[cfg(feature = "sqlite")]
mod wal;
#[cfg(feature = "postgres")]
mod wire;

pub use bank::{BALANCE, Booking, book, open_accounts};
#[cfg(feature = "postgres")]
pub use bouncer::Bouncer;
pub use cut::Cut;
pub use database::{Db, store_options};
pub use effects::Effects;
pub use oracle::{Oracle, nothing_lost};
pub use patience::{eventually, is_long, size};
pub use process::{Supervised, WorkerOptions, WorkerProcess};
pub use rows::{entry, order, start, token};
pub use sql::{Sql, ToSql};
pub use tx::Tx;
#[cfg(feature = "sqlite")]
pub use wal::{Wal, Written};
#[cfg(feature = "postgres")]
pub use wire::Wire;
