//! Disks of a test's own.

use std::{path::Path, process::Command};

use super::place::{self, Place};

const INSIDE: &str = "SUITE_OWN_MOUNTS";

/// A migrated place on a disk with these options. `None` in the process that began the test: another one runs it.
pub async fn on_a_disk(options: &str, test: &str) -> Option<Place> {
    if std::env::var_os(INSIDE).is_none() {
        if with_own_mounts(test).is_none() {
            place::skip("mounts of its own are not allowed here");
        }
        return None;
    }
    let place = Place::empty().await;
    mount(place.dir(), options);
    place.migrate().await;
    Some(place)
}

/// Runs the test in a process with mounts of its own: nobody sees them, and they go with it. `None` where that is not
/// allowed.
fn with_own_mounts(test: &str) -> Option<()> {
    let may = |how: &&str| Command::new("unshare").args([how, "true"]).output().is_ok_and(|o| o.status.success());
    let how = ["-rm", "-m"].iter().find(|how| may(how))?;
    let this = std::env::current_exe().expect("a path");
    let mut inside = Command::new("unshare");
    inside.arg(how).arg(this).args(["--exact", test, "--nocapture"]).env(INSIDE, "1");
    let output = inside.output().expect("runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    Some(())
}

/// Its options, anew.
pub fn mount(dir: &Path, options: &str) {
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(dir).status();
    assert!(mounted.expect("runs").success());
}
