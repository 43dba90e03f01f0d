use std::fs::File;
use std::io::Write;
use std::{env, thread};

/// Says that the calling test cannot run here, and why; the test then returns.
///
/// Test runners hide what a passing test prints. So it is also written to the file `GEN_DURABLE_SKIPS` names, which
/// `scripts/test` prints at the end.
///
/// ```
/// fn a_pooler_is_survived() {
///     if !std::path::Path::new("/usr/sbin/pgbouncer").exists() {
///         return local_postgres::skip("pgbouncer is not installed");
///     }
///     // …
/// }
/// # a_pooler_is_survived();
/// ```
pub fn skip(reason: &str) {
    let test = thread::current().name().unwrap_or("a test").to_owned();
    eprintln!("SKIPPED {test}: {reason}");
    let file =
        env::var_os("GEN_DURABLE_SKIPS").and_then(|path| File::options().create(true).append(true).open(path).ok());
    // One write a line, so that tests side by side do not mix theirs. Best effort: it is said on stderr as well.
    let _ = file.map(|mut file| file.write_all(format!("{test}: {reason}\n").as_bytes()));
}
