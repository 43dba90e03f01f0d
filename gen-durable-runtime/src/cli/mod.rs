//! The top: a whole `main`, made by `worker!`.

mod args;
mod control;
mod copy;
mod database;
mod graph;
mod limits;
mod log;
mod print;
mod program;
mod queues;
mod restart;
mod schedules;
mod verbs;

pub use graph::{dot, mermaid};
pub use program::{Command, Program};
