//! Builds other packages, apart from what the calling test is built in.

use std::{env, path::Path, process::Command};

/// The cargo that runs the tests, without the network, into a folder of its own.
pub fn cargo(target: &Path) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // What cargo told the calling test is about another package.
    let told = env::vars_os().map(|(name, _)| name).filter(|name| {
        let name = name.to_string_lossy();
        name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_BIN_") || name.starts_with("CARGO_MANIFEST_")
    });
    told.for_each(|name| {
        command.env_remove(name);
    });
    command.env("CARGO_TARGET_DIR", target).env("CARGO_NET_OFFLINE", "true").env("CARGO_TERM_COLOR", "never");
    command
}
