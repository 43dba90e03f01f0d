//! Syntax to model. Knows attributes, knows nothing about the graph.

pub mod derive;
pub mod duration;
mod item;
mod job;
mod job_shape;
mod limits;
mod machine;
mod option;
mod options;
mod step;
mod waits;

pub use item::machine;
pub use job::job;
pub use options::{Table, Value};
