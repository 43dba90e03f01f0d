//! What a crash leaves behind: servers without a watcher, files that name processes long gone.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::place::Slot;

const GONE_MAX: Duration = Duration::from_secs(10);

/// Ends every server process on the slot's data that has no watcher, and removes the files it left. The caller
/// holds the slot's `lock` and knows that no watcher lives.
pub(crate) fn clear(slot: &Slot) {
    end_processes(&slot.data());
    // A stale pid file would stop a start as soon as the number is in use again.
    for file in [slot.data().join("postmaster.pid"), slot.socket(), slot.home().join(".s.PGSQL.5432.lock")] {
        let _ = fs::remove_file(file);
    }
}

/// Backends outlive a killed postmaster for a moment: a second server on their data would corrupt it.
fn end_processes(data: &Path) {
    let until = Instant::now() + GONE_MAX;
    loop {
        let pids = processes_on(data);
        if pids.is_empty() || Instant::now() > until {
            return;
        }
        for pid in pids {
            // SAFETY: plain numbers; the process was just seen to work on our data.
            unsafe { libc::kill(pid, libc::SIGKILL) };
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Every server process makes the data directory its working directory.
fn processes_on(data: &Path) -> Vec<libc::pid_t> {
    if !Path::new("/proc/self/cwd").exists() {
        return postmasters_on(data);
    }
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == data)).collect()
}

/// Without `/proc`: a postmaster keeps its command line, which names the data directory.
fn postmasters_on(data: &Path) -> Vec<libc::pid_t> {
    let Ok(listed) = Command::new("ps").args(["-axo", "pid=,command="]).output() else { return Vec::new() };
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let marked = format!(" -D {} ", data.display());
    let lines = listed.lines().filter(|line| line.contains(&marked) && line.contains("postgres"));
    lines.filter_map(|line| line.split_whitespace().next()?.parse().ok()).collect()
}
