//! Files that are full, locked, read-only, damaged, of another version, replaced or shared: what goes wrong is said
//! clearly, and nothing is lost. Each test is named after its promise.
#![cfg(feature = "sqlite")]
#![allow(unreachable_pub)] // machines are public as in a user's crate

#[path = "../../src/machines.rs"]
mod machines;

mod damaged;
mod full;
mod idle;
mod kills;
mod locked;
mod mounts;
mod moved;
mod paths;
mod place;
mod readonly;
mod sessions;
mod shared;
mod versions;
