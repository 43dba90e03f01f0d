//! A shop whose orders are durable state machines.
//!
//! `cargo run -p checkout -- demo` shows it at work. Read `machine.rs` first: it is the whole of the checkout; the
//! rest is an ordinary shop. The README has the commands and the format of the orders file.

mod carrier;
mod demo;
mod machine;
#[cfg(test)]
mod machine_tests;
mod orders;
mod shop;
mod table;

use demo::demo;
use shop::Shop;

gen_durable::worker!(Shop::connect, commands = [demo: "Sell the orders of a file: demo [ORDERS.csv]"]);
