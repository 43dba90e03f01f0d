//! What the promises are checked with: databases, hand-made rows, effects, worker processes.

mod database;
mod rows;

pub use database::{Db, store_options};
pub use rows::{entry, order, start, token};
