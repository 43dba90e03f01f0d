use std::fs;
use std::ops::Deref;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::account::server_account;
use crate::binaries::Binaries;
use crate::launch::{self, Leaves, Plan};
use crate::place::{self, Place};
use crate::server::Inner;
use crate::{Error, Options, Result, Server, cluster, remains};

/// An orderly stop writes everything out first.
const STOP_MAX: Duration = Duration::from_secs(60);

/// A server only this process uses. It goes, with its data, on drop, or when the process dies.
///
/// ```
/// # fn main() -> Result<(), local_postgres::Error> {
/// let server = local_postgres::Server::private()?;
/// server.query("postgres", "CREATE TABLE kept AS SELECT 1 AS n")?;
/// server.restart()?;
/// assert_eq!(server.query("postgres", "SELECT n FROM kept")?.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct PrivateServer {
    server: Server,
}

impl PrivateServer {
    pub(crate) fn start_new(options: &Options) -> Result<Self> {
        let binaries = Binaries::find()?;
        let place = Place::open(&binaries.version, options.profile(), server_account()?)?;
        let (slot, user) = {
            let _setting_up = place.lock()?;
            sweep(&place);
            let slot = place.slot(&unique_name())?;
            let user = place::lock(&slot.users())?;
            (slot, user)
        };
        let server = Server::new(Inner::new(place, slot, binaries, options.clone(), user));
        let private = Self { server };
        let _starting = place::lock(&private.slot().starting())?;
        private.plan().start_fresh()?;
        Ok(private)
    }

    /// Starts the stopped server on its data; returns when it takes connections. Nothing happens if it runs.
    ///
    /// # Errors
    ///
    /// The server does not start; the text ends with its log.
    pub fn start(&self) -> Result<()> {
        let _starting = place::lock(&self.slot().starting())?;
        if launch::is_running(self.slot())? {
            return Ok(());
        }
        remains::clear(self.slot());
        self.plan().start()
    }

    /// Stops it in an orderly way: clients are cut off, everything is written out.
    ///
    /// # Errors
    ///
    /// It does not stop within a minute.
    pub fn stop_fast(&self) -> Result<()> {
        self.stop(libc::SIGINT)
    }

    /// Stops it as a crash would: the next start recovers from the log of what was committed.
    ///
    /// # Errors
    ///
    /// It does not stop within a minute.
    pub fn stop_immediate(&self) -> Result<()> {
        self.stop(libc::SIGQUIT)
    }

    /// Kills its first process outright; the others notice and go.
    ///
    /// # Errors
    ///
    /// It does not go within a minute.
    pub fn kill(&self) -> Result<()> {
        self.stop(libc::SIGKILL)
    }

    /// [`Self::stop_fast`], then [`Self::start`].
    ///
    /// # Errors
    ///
    /// As for those two.
    pub fn restart(&self) -> Result<()> {
        self.stop_fast()?;
        self.start()
    }

    fn stop(&self, signal: libc::c_int) -> Result<()> {
        let until = Instant::now() + STOP_MAX;
        if launch::is_watched(self.slot())? {
            self.signal(signal);
        }
        while launch::is_watched(self.slot())? {
            if Instant::now() > until {
                return Err(Error::other("the server does not stop"));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    fn signal(&self, signal: libc::c_int) {
        if let Some(pid) = self.server.pid().and_then(|pid| libc::pid_t::try_from(pid).ok()) {
            // SAFETY: plain numbers; its watcher lives, so the number is still the server's.
            unsafe { libc::kill(pid, signal) };
        }
    }

    fn slot(&self) -> &place::Slot {
        &self.server.inner().slot
    }

    fn plan(&self) -> Plan<'_> {
        let Inner { place, slot, binaries, options, .. } = self.server.inner();
        Plan { place, slot, binaries, options, linger_ms: 0, leaves: Leaves::Nothing }
    }
}

/// Everything a [`Server`] can do.
impl Deref for PrivateServer {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl Drop for PrivateServer {
    fn drop(&mut self) {
        // Best effort: what stays is swept by the next private server.
        let _ = self.stop_immediate();
        remains::clear(self.slot());
        let _ = cluster::remove(&self.slot().dir);
    }
}

/// Removes what killed owners of stopped servers left. The caller holds the version's lock.
fn sweep(place: &Place) {
    for entry in fs::read_dir(&place.dir).into_iter().flatten().flatten() {
        let is_private = entry.file_name().to_string_lossy().starts_with("private-");
        let users = entry.path().join("users");
        // Held by the owner, or by the watcher that is removing it just now.
        if is_private && (!users.exists() || place::try_lock(&users).is_ok_and(|lock| lock.is_some())) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn unique_name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("private-{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}
