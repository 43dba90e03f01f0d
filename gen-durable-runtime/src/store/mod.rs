//! Floor 2: the one seam to a database.

#[cfg(feature = "client")]
mod notifier;
#[cfg(feature = "postgres")]
pub mod postgres;
mod schema_name;
mod seam;

#[cfg(feature = "client")]
pub use notifier::Notifier;
pub use schema_name::SchemaName;
pub use seam::*;
