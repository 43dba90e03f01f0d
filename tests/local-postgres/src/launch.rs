//! Starting a server under a watcher, and knowing that it is up.

use std::fs::{self, File};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::binaries::Binaries;
use crate::cluster;
use crate::place::{self, Place, Slot};
use crate::watcher::{Watched, Watcher};
use crate::wire::Connection;
use crate::{Error, Options, Result, remains};

/// A start may have to recover from a crash first.
const READY_MAX: Duration = Duration::from_secs(60);

/// What to start, and when it is to go.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) place: &'a Place,
    pub(crate) slot: &'a Slot,
    pub(crate) binaries: &'a Binaries,
    pub(crate) options: &'a Options,
    pub(crate) linger_ms: u32,
    pub(crate) leaves: Leaves,
}

/// What stays once the last user has gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaves {
    /// Neither data nor the directory.
    Nothing,
    /// The directory, with its log.
    Log,
    /// The data too.
    Data,
}

impl Plan<'_> {
    /// Starts on new data. If that fails, the fault may be in what it was copied from: once more from nothing.
    pub(crate) fn start_fresh(&self) -> Result<()> {
        let first = self.renew_and_start();
        if first.is_ok() {
            return first;
        }
        cluster::forget_pristine(self.place)?;
        self.renew_and_start()
    }

    fn renew_and_start(&self) -> Result<()> {
        cluster::renew(self.place, self.slot, self.binaries, self.options.profile())?;
        // The log of this server's life, not of those before it.
        let _ = fs::remove_file(self.slot.log());
        self.start()
    }

    /// Starts on the data as it is and returns when the server takes connections. On error nothing runs.
    pub(crate) fn start(&self) -> Result<()> {
        let started = self.spawn().and_then(|()| is_running(self.slot)).and_then(|running| {
            if running {
                Ok(())
            } else {
                Err(Error::other(format!("PostgreSQL does not start: {}", log_tail(self.slot))))
            }
        });
        if started.is_err() {
            remains::clear(self.slot);
        }
        started
    }

    fn spawn(&self) -> Result<()> {
        let held = place::lock(&self.slot.watcher())?;
        let watcher = Watcher::prepare(&Watched {
            users: &self.slot.users(),
            starting: &self.slot.starting(),
            remove: &match self.leaves {
                Leaves::Nothing => self.slot.dir.clone(),
                Leaves::Log => self.slot.data(),
                // Gone already, unless the server had to be killed.
                Leaves::Data => self.slot.socket(),
            },
            stop: match self.leaves {
                Leaves::Nothing | Leaves::Log => libc::SIGQUIT,
                Leaves::Data => libc::SIGINT,
            },
            held: &held,
            linger_ms: self.linger_ms,
            account: self.place.account,
        })?;
        let mut command = self.command()?;
        // SAFETY: `detach` makes only system calls in the child.
        unsafe { command.pre_exec(move || watcher.detach()) };
        let mut child = command.spawn().map_err(Error::io("run postgres (can the server's account reach it?)"))?;
        child.wait().map_err(Error::io("wait for the start of postgres"))?;
        Ok(())
    }

    fn command(&self) -> Result<Command> {
        let log = File::options().create(true).append(true).mode(0o600).open(self.slot.log());
        let log = log.map_err(Error::io(format_args!("open {}", self.slot.log().display())))?;
        let err = log.try_clone().map_err(Error::io("share the log"))?;
        let mut command = Command::new(self.binaries.program("postgres"));
        cluster::quiet(&mut command);
        command.stdin(Stdio::null()).stdout(log).stderr(err).arg("-D").arg(self.slot.data());
        command.arg("-c").arg(format!("unix_socket_directories={}", self.slot.home().display()));
        for (name, value) in self.options.all_settings(self.binaries) {
            command.arg("-c").arg(format!("{name}={value}"));
        }
        Ok(command)
    }
}

/// Whether a watcher, and with it a server, lives.
pub(crate) fn is_watched(slot: &Slot) -> Result<bool> {
    Ok(place::try_lock(&slot.watcher())?.is_none())
}

/// Waits for a server that starts, recovers or is about to die: true once it takes connections, false once it is
/// gone.
pub(crate) fn is_running(slot: &Slot) -> Result<bool> {
    let until = Instant::now() + READY_MAX;
    while is_watched(slot)? && Instant::now() < until {
        if accepts(slot)? {
            return Ok(true);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(false)
}

/// False while waiting may help.
fn accepts(slot: &Slot) -> Result<bool> {
    let Err(error) = Connection::open(&slot.socket(), "postgres") else { return Ok(true) };
    match error.sqlstate() {
        // No socket yet or any more; `cannot_connect_now`: it starts or stops.
        None | Some("57P03") => Ok(false),
        // `too_many_connections`: busy, but there.
        Some("53300") => Ok(true),
        Some(_) => Err(error),
    }
}

fn log_tail(slot: &Slot) -> String {
    let log = fs::read_to_string(slot.log()).unwrap_or_default();
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(5)..].join("\n")
}
