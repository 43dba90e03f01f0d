//! The Postgres store.

pub mod migrate;
