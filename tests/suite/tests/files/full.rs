//! A disk without space.

use std::{
    fs::File,
    io::Write as _,
    path::{Path, PathBuf},
    time::Duration,
};

use gen_durable::start;
use suite::eventually;

use super::{machines::Run, mounts::on_a_disk};

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
    let Some(place) = on_a_disk("size=24m", "full::a_full_disk_holds_outcomes_up_and_loses_none").await else {
        return;
    };
    let ids = place.start((0..100).map(|_| start(Run { millis: 20, steps: 20 }))).await;
    let worker = place.worker().lease(Duration::from_secs(30)).concurrency(20).spawn().await;
    eventually("it works", Duration::from_secs(10), async || place.effects().await > 100).await;
    let filler = fill(place.dir());
    let told = || worker.logged("commit failed, trying again") > 0 && worker.logged("no space is left") > 0;
    eventually("the operator is told", Duration::from_secs(10), async || told()).await;
    // More than the log can take where it stands.
    let client = place.client();
    let many = || (0..10_000).map(|_| start(Run { millis: 0, steps: 1 }).queue("elsewhere"));
    let error = client.start_many(many()).await.expect_err("no space");
    let text = format!("no space is left for the database file {}", place.file().display());
    assert!(error.to_string().contains(&text) && error.is_transient(), "{error}");
    assert_eq!(place.count("SELECT count(*) FROM gen_durable").await, 100, "all or none");
    std::fs::remove_file(filler).expect("removes");
    place.all_done(&ids, 20, Duration::from_secs(30)).await;
    assert_eq!(place.effects().await, 2_000, "each step ran once");
    assert_eq!(client.start_many(many()).await.expect("the same client goes on").len(), 10_000);
}

/// The log grows to 16 MB before it is emptied as a rule. What it could give back is not waited for.
#[tokio::test]
async fn a_log_that_fills_the_disk_is_emptied() {
    let Some(place) = on_a_disk("size=2560k", "full::a_log_that_fills_the_disk_is_emptied").await else { return };
    // Room within the file: what grows would need room on the disk as well, which no checkpoint can make.
    place.run("CREATE TABLE room (x); INSERT INTO room VALUES (zeroblob(800000)); DROP TABLE room").await;
    place.run("PRAGMA wal_checkpoint(TRUNCATE)").await;
    let ids = place.start((0..20).map(|_| start(Run { millis: 0, steps: 40 }))).await;
    let worker = place.worker().lease(Duration::from_secs(30)).spawn().await;
    place.all_done(&ids, 40, Duration::from_secs(30)).await;
    assert!(worker.logged("no space is left") > 0, "the disk was small enough");
    assert_eq!(place.effects().await, 800, "each step ran once");
}
