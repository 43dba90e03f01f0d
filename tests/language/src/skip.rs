//! Tests that cannot run here say so.

use std::{env, fs::File, io::Write, thread};

/// Says that the calling test cannot run here, and why; the test then returns.
///
/// Test runners hide what a passing test prints. So it is also written to the file `GEN_DURABLE_SKIPS` names, which
/// `scripts/test` prints at the end.
pub fn skip(reason: &str) {
    let test = thread::current().name().unwrap_or("a test").to_owned();
    eprintln!("SKIPPED {test}: {reason}");
    let file =
        env::var_os("GEN_DURABLE_SKIPS").and_then(|path| File::options().create(true).append(true).open(path).ok());
    // Best effort: it is said on stderr as well.
    let _ = file.map(|mut file| file.write_all(format!("{test}: {reason}\n").as_bytes()));
}

/// Whether the long trials were asked for: `GEN_DURABLE_LONG=1`.
pub fn is_long() -> bool {
    env::var_os("GEN_DURABLE_LONG").is_some_and(|value| value == "1")
}
