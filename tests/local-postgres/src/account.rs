//! The account the server runs as: PostgreSQL refuses to run as root.

use std::ffi::CStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use crate::{Error, Result};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Account {
    uid: libc::uid_t,
    gid: libc::gid_t,
}

/// The account to drop to: `None` unless we are root.
pub(crate) fn server_account() -> Result<Option<Account>> {
    if own_uid() != 0 {
        return Ok(None);
    }
    let found = [c"postgres", c"nobody"].into_iter().find_map(look_up);
    found.map(Some).ok_or_else(|| {
        Error::other(
            "PostgreSQL does not run as root, and there is neither a user `postgres` nor `nobody` to run it as",
        )
    })
}

pub(crate) fn own_uid() -> libc::uid_t {
    // SAFETY: takes nothing and cannot fail.
    unsafe { libc::geteuid() }
}

fn look_up(name: &CStr) -> Option<Account> {
    let mut buffer = [0; 4096];
    let mut found = std::ptr::null_mut();
    // SAFETY: `passwd` is plain data for which zeroes are valid; every pointer outlives the call.
    let entry = unsafe {
        let mut entry: libc::passwd = std::mem::zeroed();
        libc::getpwnam_r(name.as_ptr(), &raw mut entry, buffer.as_mut_ptr(), buffer.len(), &raw mut found);
        entry
    };
    (!found.is_null()).then_some(Account { uid: entry.pw_uid, gid: entry.pw_gid })
}

impl Account {
    /// Gives a path of ours to the account.
    pub(crate) fn own(self, path: &Path) -> io::Result<()> {
        std::os::unix::fs::chown(path, Some(self.uid), Some(self.gid))
    }

    /// Turns the calling process into the account's, for good. Only calls that are safe after a fork.
    pub(crate) fn assume(self) -> io::Result<()> {
        // SAFETY: plain system calls; the group list is empty, so its pointer is never read.
        let refused = unsafe {
            libc::setgroups(0, std::ptr::null()) != 0 || libc::setgid(self.gid) != 0 || libc::setuid(self.uid) != 0
        };
        if refused { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

/// Makes a command run as the account.
pub(crate) fn run_as(command: &mut Command, account: Option<Account>) {
    let Some(account) = account else { return };
    // SAFETY: the closure makes only system calls.
    unsafe { command.pre_exec(move || account.assume()) };
}
