//! Which process holds a claim, and whether that process can be proven dead.

use std::{
    fs,
    sync::atomic::{AtomicU64, Ordering},
};

use crate::model::ClaimToken;

/// The name under which this process claims: `host.boot.namespace.pid.start`. A pid alone is used again by the next
/// process, on other hosts and in other containers.
#[derive(Debug)]
pub(super) struct Identity {
    name: String,
    claims: AtomicU64,
}

impl Identity {
    /// `engine` tells several engines of one process apart.
    pub(super) fn of_this_process(engine: u64) -> Self {
        let pid = std::process::id();
        let start = started(pid).unwrap_or(0);
        let host = host().replace(['#', '.'], "-");
        Self { name: format!("{host}.{}.{pid}.{start}-{engine}", world()), claims: AtomicU64::new(0) }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// A token that this process never used before.
    pub(super) fn next_token(&self) -> ClaimToken {
        let number = self.claims.fetch_add(1, Ordering::Relaxed);
        ClaimToken::new(format!("{}#{number}", self.name))
    }
}

/// Whether `owner` is a process of this host, this boot and this process namespace that no longer runs. Whatever
/// cannot be proven is left to its lease.
pub(super) fn is_dead(owner: &str) -> bool {
    let ours = format!("{}.{}.", host().replace(['#', '.'], "-"), world());
    let Some((pid, start)) = owner.strip_prefix(&ours).and_then(|rest| rest.split_once('.')) else { return false };
    let Some(start) = start.split('-').next().and_then(|s| s.parse::<u64>().ok()) else { return false };
    let Ok(pid) = pid.parse::<u32>() else { return false };
    start > 0 && (!exists(pid) || looks(pid).is_some_and(|found| found != Some(start)))
}

/// Whether there is such a process, also one that `/proc` hides from us.
fn exists(pid: u32) -> bool {
    let Ok(pid) = libc::pid_t::try_from(pid) else { return true };
    // SAFETY: signal 0 is sent to nobody; it only asks.
    let asked = unsafe { libc::kill(pid, 0) };
    asked == 0 || std::io::Error::last_os_error().raw_os_error() != Some(libc::ESRCH)
}

fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").or_else(|_| fs::read_to_string("/etc/hostname"));
    let name = name.unwrap_or_default();
    match name.trim() {
        "" => "host".into(),
        name => name.chars().take(100).collect(),
    }
}

/// This boot and this process namespace: pids mean something only within.
fn world() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let namespace = fs::read_link("/proc/self/ns/pid").map(|l| l.to_string_lossy().into_owned()).unwrap_or_default();
    let namespace: String = namespace.chars().filter(char::is_ascii_digit).collect();
    format!("{}.{namespace}", boot.trim().chars().take(8).collect::<String>())
}

/// When a process started, in ticks since the boot; `None` when it is not known, or it does not run.
fn started(pid: u32) -> Option<u64> {
    looks(pid).flatten()
}

/// What `/proc` tells: `None` when it tells nothing, `Some(None)` when the process has ended (a zombie has).
fn looks(pid: u32) -> Option<Option<u64>> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The command's name may hold anything, `)` included: fields are counted from the last one.
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    match fields.next()? {
        "Z" | "X" => Some(None),
        _ => Some(Some(fields.nth(18)?.parse().ok()?)),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn only_a_process_that_is_provably_gone_is_dead() {
        let me = Identity::of_this_process(1);
        assert!(!is_dead(me.name()));
        let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("sleep");
        let start = started(child.id()).expect("it runs");
        let owner = format!("{}.{}.{}.{start}-1", host().replace(['#', '.'], "-"), world(), child.id());
        assert!(!is_dead(&owner));
        child.kill().expect("kill");
        assert!(is_dead(&owner) || child.try_wait().is_ok(), "a zombie counts as dead");
        child.wait().expect("wait");
        assert!(is_dead(&owner));
        for foreign in ["", "elixir@node", "other-host.abc.1.2.3-1", &owner.replace('.', "-")] {
            assert!(!is_dead(foreign), "{foreign:?}");
        }
    }

    #[test]
    fn two_claims_of_one_process_differ() {
        let me = Identity::of_this_process(1);
        assert_ne!(me.next_token(), me.next_token());
    }
}
