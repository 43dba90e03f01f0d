//! A directory becomes a manifest that `sha256sum -c` accepts.
//!
//! `cargo run -p archive -- snapshot DIRECTORY` makes one. Read `machine.rs` first: it lists the tree, hands the files
//! out in batches, and joins their hashes. The README has the commands and what is in the manifest.

mod digest;
mod disk;
mod machine;
mod manifest;
mod name;
mod report;
mod snapshot;
mod tree;

use disk::Disk;
use snapshot::snapshot;

gen_durable::worker!(Disk::connect, commands = [snapshot: "Write manifest.sha256 of a directory: snapshot DIRECTORY"]);
