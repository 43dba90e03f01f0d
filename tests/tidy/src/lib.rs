//! Rules of the source tree that no compiler checks, read off the text.
//!
//! Each rule is a function from sources to offences, with a sample that breaks it beside it; `tests/tree.rs` runs
//! them on the tree.

pub mod dialects;
pub mod floors;
pub mod named;
pub mod pins;
pub mod rust;
pub mod size;
pub mod sql;
pub mod tree;
pub mod unwraps;

pub use tree::{Offence, Source};
