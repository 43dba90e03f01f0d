//! What generated code calls. Small generic functions: the macro only names types.

mod checks;
mod enter;
mod entry;
mod run;

pub use checks::*;
pub use enter::*;
pub use entry::*;
pub use run::*;
