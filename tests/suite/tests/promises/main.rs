//! The promises, each a test named after it.
#![allow(unreachable_pub)] // machines are public as in a user's crate

mod claims;
mod engine;
#[cfg(feature = "postgres")]
mod flat;
mod machines;
#[cfg(feature = "postgres")]
mod pinned;
mod plain;
#[cfg(feature = "postgres")]
mod plans;
mod races;
mod wakes;
#[cfg(feature = "sqlite")]
mod writes;
