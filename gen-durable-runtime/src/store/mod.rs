//! Floor 2: the one seam to a database.

#[cfg(feature = "postgres")]
pub mod postgres;
mod schema_name;
mod seam;

pub use schema_name::SchemaName;
pub use seam::*;
