//! Rows as the engine writes them, made by hand: the store's promises are checked without any machine.

use std::time::Duration;

use gen_durable_runtime::{
    model::{ClaimToken, Entry, Json, StartSpec},
    store::{ClaimOrder, Known},
};

/// A plain step.
pub fn entry(step: &'static str) -> Entry {
    Entry::plain(step, Json::object())
}

/// An instance of machine `m` at step `a`.
pub fn start() -> StartSpec {
    StartSpec::plain("m", 1, entry("a"))
}

pub fn token(name: &str) -> ClaimToken {
    ClaimToken::new(name)
}

/// A claim of the default queue.
pub fn order<'a>(known: &'a Known, limit: u32, name: &str) -> ClaimOrder<'a> {
    ClaimOrder {
        queue: "default",
        limit,
        token: token(name),
        lease: Duration::from_secs(30),
        known,
        crashed: true,
        limits: false,
        look: false,
    }
}
