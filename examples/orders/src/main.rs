//! An HTTP service whose orders are durable state machines.
//!
//! `cargo run -p orders -- serve` runs it. Read `machine.rs` first, then `place.rs`: a row of the service and the
//! instance that works it are one transaction, at the start and at every step. The README has the requests.

mod api;
mod carrier;
mod database;
mod fault;
mod machine;
#[cfg(test)]
mod machine_tests;
mod orders;
mod place;
mod serve;
mod shop;
mod view;

use serve::serve;
use shop::Shop;

gen_durable::worker!(
    Shop::connect,
    commands = [serve: "Serve HTTP, and work: serve [ADDRESS] [--without-worker] [--carrier-takes 30ms]"]
);
