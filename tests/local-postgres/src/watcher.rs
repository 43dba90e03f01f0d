//! The process that owns a server: its parent, which stops it when the last user has gone.
//!
//! It is a fork of the process that started the server, so everything here runs between `fork` and `exec`:
//! system calls only, no allocation, no lock, no panic.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use libc::c_int;

use crate::account::Account;
use crate::{Error, Result};

/// How long the watcher sleeps between two looks.
const TICK_MS: u32 = 100;

/// Ticks a server gets to stop by itself.
const STOP_TICKS: u32 = 100;

/// Prepared before the fork.
#[derive(Debug)]
pub(crate) struct Watcher {
    users: CString,
    starting: CString,
    remove: [CString; 3],
    stop: c_int,
    held: RawFd,
    linger_ticks: u32,
    account: Option<Account>,
}

/// What the watcher looks at, and what it leaves behind.
pub(crate) struct Watched<'a> {
    pub(crate) users: &'a Path,
    pub(crate) starting: &'a Path,
    /// Removed after the server has stopped.
    pub(crate) remove: &'a Path,
    /// How the server is told to stop. `SIGQUIT`: at once, for data that are removed. `SIGINT`: everything is written
    /// out first, so that the next start has nothing to recover.
    pub(crate) stop: c_int,
    /// The lock on the slot's `watcher` file, passed on to the watcher.
    pub(crate) held: &'a std::fs::File,
    pub(crate) linger_ms: u32,
    pub(crate) account: Option<Account>,
}

impl Watcher {
    pub(crate) fn prepare(watched: &Watched<'_>) -> Result<Self> {
        let rm = crate::binaries::in_path("rm").ok_or_else(|| Error::other("there is no `rm` in PATH"))?;
        Ok(Self {
            users: c_path(watched.users)?,
            starting: c_path(watched.starting)?,
            remove: [c_path(&rm)?, c_path(Path::new("-rf"))?, c_path(watched.remove)?],
            stop: watched.stop,
            held: watched.held.as_raw_fd(),
            linger_ticks: watched.linger_ms / TICK_MS,
            account: watched.account,
        })
    }

    /// Called in the child before `exec`. The child ends at once, so that nobody has to wait for it; its child
    /// becomes the watcher; the watcher's child returns from here and becomes the server.
    pub(crate) fn detach(&self) -> io::Result<()> {
        // SAFETY: takes nothing. A session of its own keeps the terminal's and a test runner's signals away.
        ok(unsafe { libc::setsid() })?;
        if fork()? != 0 {
            exit(0);
        }
        match fork()? {
            0 => self.become_server(),
            server => self.watch(server),
        }
    }

    fn become_server(&self) -> io::Result<()> {
        if let Some(account) = self.account {
            account.assume()?;
        }
        die_with_parent()
    }

    fn watch(&self, server: libc::pid_t) -> ! {
        keep_only(self.held);
        let (users, starting) = (open(&self.users), open(&self.starting));
        if users < 0 || starting < 0 {
            stop(server, self.stop);
            exit(1);
        }
        let mut idle_ticks = 0;
        loop {
            sleep_tick();
            if has_ended(server) {
                exit(0);
            }
            idle_ticks = if nobody_holds(users) { idle_ticks + 1 } else { 0 };
            if idle_ticks > self.linger_ticks {
                self.end_if_unused(server, users, starting);
            }
        }
    }

    /// Holds `lock` while it decides and clears up: whoever wants a server then waits, and starts anew.
    fn end_if_unused(&self, server: libc::pid_t, users: RawFd, starting: RawFd) {
        if !try_flock(starting) {
            return;
        }
        if !try_flock(users) {
            unflock(starting);
            return;
        }
        stop(server, self.stop);
        let [rm, force, path] = &self.remove;
        let arguments = [rm.as_ptr(), force.as_ptr(), path.as_ptr(), std::ptr::null()];
        // SAFETY: a null-terminated array of strings that outlive the call. The locks pass on to `rm`.
        unsafe { libc::execv(rm.as_ptr(), arguments.as_ptr()) };
        exit(1);
    }
}

fn c_path(path: &Path) -> Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| Error::other(format!("{} has a zero byte", path.display())))
}

fn ok(returned: c_int) -> io::Result<c_int> {
    if returned < 0 { Err(io::Error::last_os_error()) } else { Ok(returned) }
}

fn fork() -> io::Result<libc::pid_t> {
    // SAFETY: the process is already a fork with one thread.
    ok(unsafe { libc::fork() })
}

fn exit(code: c_int) -> ! {
    // SAFETY: ends the process without running anything of the program it was forked from.
    unsafe { libc::_exit(code) }
}

/// The server is told when its watcher dies. Set after the change of account, which clears it.
#[cfg(target_os = "linux")]
fn die_with_parent() -> io::Result<()> {
    // SAFETY: plain numbers.
    ok(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGQUIT) }).map(drop)
}

/// Elsewhere the next start finds the server without its watcher and ends it.
#[cfg(not(target_os = "linux"))]
fn die_with_parent() -> io::Result<()> {
    Ok(())
}

/// Closes what came with the fork: pipes whose readers wait for the end, and the starter's own hold on `users`.
fn keep_only(held: RawFd) {
    const KEPT: RawFd = 3;
    // SAFETY: numbers only; closing what is not open is harmless.
    unsafe {
        libc::chdir(c"/".as_ptr());
        if held != KEPT {
            libc::dup2(held, KEPT);
        }
        close_from(KEPT + 1);
    }
}

#[cfg(target_os = "linux")]
unsafe fn close_from(first: RawFd) {
    // SAFETY: the caller gives up every descriptor from `first` on.
    unsafe {
        if libc::syscall(libc::SYS_close_range, first, c_int::MAX, 0) != 0 {
            (first..4096).for_each(|fd| {
                libc::close(fd);
            });
        }
    }
}

#[cfg(not(target_os = "linux"))]
unsafe fn close_from(first: RawFd) {
    // SAFETY: the caller gives up every descriptor from `first` on.
    unsafe {
        (first..4096).for_each(|fd| {
            libc::close(fd);
        });
    }
}

/// Without close-on-exec: `rm` keeps the locks until all is gone.
fn open(path: &CString) -> RawFd {
    // SAFETY: a string that outlives the call.
    unsafe { libc::open(path.as_ptr(), libc::O_RDWR) }
}

fn try_flock(fd: RawFd) -> bool {
    // SAFETY: plain numbers.
    unsafe { libc::flock(fd, libc::LOCK_EX | libc::LOCK_NB) == 0 }
}

fn unflock(fd: RawFd) {
    // SAFETY: plain numbers.
    unsafe { libc::flock(fd, libc::LOCK_UN) };
}

fn nobody_holds(users: RawFd) -> bool {
    let free = try_flock(users);
    if free {
        unflock(users);
    }
    free
}

fn has_ended(server: libc::pid_t) -> bool {
    // SAFETY: no status is asked for.
    unsafe { libc::waitpid(server, std::ptr::null_mut(), libc::WNOHANG) != 0 }
}

fn sleep_tick() {
    // SAFETY: takes a number; waking early is harmless.
    unsafe { libc::usleep(TICK_MS * 1000) };
}

/// One that does not stop is killed: what it leaves behind is removed or recovered, never needed as it is.
fn stop(server: libc::pid_t, signal: c_int) {
    // SAFETY: our own child, not yet waited for, so the number is still its own.
    unsafe { libc::kill(server, signal) };
    for _ in 0..STOP_TICKS {
        if has_ended(server) {
            return;
        }
        sleep_tick();
    }
    // SAFETY: as above.
    unsafe { libc::kill(server, libc::SIGKILL) };
}
