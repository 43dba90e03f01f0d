//! Syntax to model. Knows attributes, knows nothing about the graph.

pub mod derive;
pub mod duration;
mod item;
mod job;
mod limits;
mod machine;
mod options;
mod step;

pub use item::machine;
pub use job::job;
pub use options::{Table, Value};
