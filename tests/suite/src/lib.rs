//! What the promises are checked with: databases, hand-made rows, effects, worker processes.

mod bouncer;
mod database;
mod oracle;
mod patience;
mod process;
mod rows;
mod wire;

pub use bouncer::Bouncer;
pub use database::{Db, store_options};
pub use oracle::{Oracle, nothing_lost};
pub use patience::{eventually, is_long, size};
pub use process::{Supervised, WorkerOptions, WorkerProcess};
pub use rows::{entry, order, start, token};
pub use wire::Wire;
