//! The Postgres store.

mod admit;
mod cancel;
mod charge;
mod claim;
mod columns;
mod commit;
mod copy;
mod counters;
mod effects;
mod error;
mod inspect;
#[cfg(feature = "testing")]
mod lent;
mod listen;
pub mod migrate;
mod operators;
mod options;
mod retention;
mod rows;
mod schedules;
mod session;
mod signal;
mod signal_or_start;
mod sql;
mod start;
mod start_plain;
mod store;
mod sweep;
mod workers;
mod write;

pub use store::Postgres;
