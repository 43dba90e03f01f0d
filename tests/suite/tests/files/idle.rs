//! A worker that has nothing to do.

use std::{fs, path::Path, time::Duration};

use suite::is_long;

use super::place::Place;

/// Processor time of a process so far.
fn busy(pid: i32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
    let fields: Vec<&str> = stat.rsplit(") ").next().expect("fields").split(' ').collect();
    let ticks: u64 = [11, 12].iter().map(|n| fields[*n].parse::<u64>().expect("ticks")).sum();
    // SAFETY: it only answers.
    let a_second = u64::try_from(unsafe { libc::sysconf(libc::_SC_CLK_TCK) }).expect("positive");
    Duration::from_millis(ticks * 1_000 / a_second)
}

/// Size and time of the last change, of the file and its log.
fn written(place: &Place) -> Vec<(u64, std::time::SystemTime)> {
    let of = |path: &Path| path.metadata().map(|m| (m.len(), m.modified().expect("a time")));
    let log = place.dir().join("gen-durable.db-wal");
    [place.file(), log].iter().filter_map(|path| of(path).ok()).collect()
}

/// Looks, polls and sweeps, at their default times: some statements a second, which find nothing.
#[tokio::test]
async fn an_idle_worker_writes_nothing_and_costs_almost_nothing() {
    if !Path::new("/proc/self/stat").exists() {
        return super::place::skip("the system does not say what a process costs");
    }
    let place = Place::migrated().await;
    let times = place.worker().poll(Duration::from_secs(1)).with("SUITE_SWEEP_MS", 1_000);
    let worker = times.spawn().await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let (before, stood) = (busy(worker.pid()), written(&place));
    let span = Duration::from_secs(if is_long() { 60 } else { 5 });
    tokio::time::sleep(span).await;
    let cost = busy(worker.pid()) - before;
    println!("an idle worker: {cost:?} of processor time in {span:?}");
    assert_eq!(written(&place), stood, "nothing is written");
    assert!(cost < span / 10, "{cost:?} of {span:?}");
}
