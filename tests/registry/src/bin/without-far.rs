//! The same binary without the line that mentions the other crate.

#[path = "../attic.rs"]
mod attic;

fn main() {
    registry::print();
}
