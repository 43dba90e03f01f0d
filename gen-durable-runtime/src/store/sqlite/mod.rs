//! The SQLite store: one file, no server. Many readers and one writer, which is the exclusion that row locks are elsewhere.

mod admit;
mod cancel;
mod claim;
mod commit;
mod copy;
mod counters;
mod effects;
mod encode;
mod error;
mod file;
mod hub;
mod inspect;
mod migrate;
mod operators;
#[cfg(test)]
mod plan_tests;
mod retention;
mod rows;
mod schedules;
mod session;
#[cfg(test)]
mod session_tests;
mod signal;
mod signal_or_start;
mod sql;
mod start;
mod store;
mod sweep;
mod taken;
mod wake_ups;
mod workers;

pub use store::Sqlite;

pub use super::clock::Clock;
