//! A disk without space.

use std::{
    fs::File,
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use gen_durable::start;
use suite::eventually;

use super::{
    machines::Run,
    place::{self, Place},
};

const INSIDE: &str = "SUITE_OWN_MOUNTS";

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

fn mount_small(dir: &Path) {
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=24m", "tmpfs"]).arg(dir).status();
    assert!(mounted.expect("runs").success());
}

/// Takes all the space that is left.
fn fill(dir: &Path) -> PathBuf {
    let path = dir.join("filler");
    let mut filler = File::create(&path).expect("a file");
    for size in [1 << 20, 4_096, 1] {
        while filler.write_all(&vec![1; size]).is_ok() {}
    }
    path
}

/// Outcomes are held while there is no space: each step ran once.
#[tokio::test]
async fn a_full_disk_holds_outcomes_up_and_loses_none() {
    if std::env::var_os(INSIDE).is_none() {
        if with_own_mounts("full::a_full_disk_holds_outcomes_up_and_loses_none").is_none() {
            place::skip("mounts of its own are not allowed here");
        }
        return;
    }
    let place = Place::empty().await;
    mount_small(place.dir());
    place.migrate().await;
    let ids = place.start((0..100).map(|_| start(Run { millis: 20, steps: 20 }))).await;
    let worker = place.worker().lease(Duration::from_secs(30)).concurrency(20).spawn().await;
    eventually("it works", Duration::from_secs(10), async || place.effects().await > 100).await;
    let filler = fill(place.dir());
    let told = || worker.logged("commit failed, trying again") > 2 && worker.logged("no space is left") > 2;
    eventually("the operator is told", Duration::from_secs(10), async || told()).await;
    let here = place.client().start(start(Run { millis: 0, steps: 1 })).await.expect_err("no space").to_string();
    assert!(here.contains("no space is left"), "{here}");
    let held = place.effects().await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(place.effects().await, held, "no step runs on before its outcome is durable");
    std::fs::remove_file(filler).expect("removes");
    place.all_done(&ids, 20, Duration::from_secs(30)).await;
    assert_eq!(place.effects().await, 2_000, "each step ran once");
}
