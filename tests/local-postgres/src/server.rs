use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::account::server_account;
use crate::binaries::Binaries;
use crate::launch::{self, Leaves, Plan};
use crate::place::{self, Place, Slot};
use crate::wire::{Connection, Row};
use crate::{Database, Error, Options, Result, remains};

/// A shared server stays a little for the next test process of the same run.
const LINGER_MS: u32 = 3_000;

/// A running server. It stays up as long as a clone of this or a [`Database`] on it lives.
///
/// ```
/// # fn main() -> Result<(), local_postgres::Error> {
/// let server = local_postgres::shared(local_postgres::Profile::Fast)?;
/// assert!(server.major() >= 13);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Server {
    inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) place: Place,
    pub(crate) slot: Slot,
    pub(crate) binaries: Binaries,
    pub(crate) options: Options,
    /// The hold on `users`, let go on drop or by the kernel.
    _user: File,
}

impl Inner {
    pub(crate) fn new(place: Place, slot: Slot, binaries: Binaries, options: Options, user: File) -> Self {
        Self { place, slot, binaries, options, _user: user }
    }
}

impl Server {
    /// As [`crate::private`], for tests.
    ///
    /// # Errors
    ///
    /// As for [`crate::shared`].
    pub fn private() -> Result<crate::PrivateServer> {
        crate::private(crate::Profile::Fast)
    }

    pub(crate) fn shared(options: &Options) -> Result<Self> {
        let binaries = Binaries::find()?;
        let place = Place::open(&binaries.version, options.profile(), server_account()?)?;
        let slot = place.slot(&options.server_name())?;
        Self::adopted_or_started(options, binaries, place, slot, Leaves::Log)
    }

    pub(crate) fn kept(options: &Options, name: &str) -> Result<Self> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if name.is_empty() || name.len() > 30 || !name.bytes().all(plain) {
            return Err(Error::other(format!("a kept server's name is 1 to 30 of a-z, 0-9 and -, not {name:?}")));
        }
        let binaries = Binaries::find()?;
        // All minor versions of a major one can read its data.
        let place = Place::open_kept(binaries.major(), server_account()?)?;
        let slot = place.slot(name)?;
        Self::adopted_or_started(options, binaries, place, slot, Leaves::Data)
    }

    fn adopted_or_started(
        options: &Options,
        binaries: Binaries,
        place: Place,
        slot: Slot,
        leaves: Leaves,
    ) -> Result<Self> {
        let plan = Plan { place: &place, slot: &slot, binaries: &binaries, options, linger_ms: LINGER_MS, leaves };
        let user = adopt_or_start(&plan)?;
        Ok(Self::new(Inner::new(place, slot, binaries, options.clone(), user)))
    }

    pub(crate) fn new(inner: Inner) -> Self {
        Self { inner: Arc::new(inner) }
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.inner
    }

    /// The URL of a database on this server, for sqlx and for `psql`.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        // The port stands there because both would else take PGPORT.
        format!(
            "postgres://postgres@localhost:5432/{}?host={}",
            encode(database),
            encode(&self.socket_dir().to_string_lossy())
        )
    }

    /// The directory of the UNIX socket: `psql -h DIR -U postgres`.
    #[must_use]
    pub fn socket_dir(&self) -> PathBuf {
        self.inner.slot.home()
    }

    /// The server's log since its start.
    #[must_use]
    pub fn log_path(&self) -> PathBuf {
        self.inner.slot.log()
    }

    /// The directory with `psql`, `pgbench` and the like.
    #[must_use]
    pub fn bin_dir(&self) -> &Path {
        &self.inner.binaries.dir
    }

    /// The major version: 15.
    #[must_use]
    pub fn major(&self) -> u32 {
        self.inner.binaries.major()
    }

    /// The process id of the server's first process, if it runs.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        let file = fs::read_to_string(self.inner.slot.data().join("postmaster.pid")).ok()?;
        file.lines().next()?.parse().ok()
    }

    /// Runs statements in a database of this server, on a connection of their own.
    ///
    /// # Errors
    ///
    /// No connection, or the server's refusal with its [`Error::sqlstate`].
    pub fn query(&self, database: &str, sql: &str) -> Result<Vec<Row>> {
        Connection::open(&self.inner.slot.socket(), database)?.query(sql)
    }

    /// The directory with the data.
    #[must_use]
    pub fn data_dir(&self) -> PathBuf {
        self.inner.slot.data()
    }

    /// A new empty database, dropped with the guard.
    ///
    /// # Errors
    ///
    /// As for [`Self::query`].
    pub fn create_database(&self) -> Result<Database> {
        Database::create(self, None)
    }

    pub(crate) fn run(&self, sql: &str) -> Result<Vec<Row>> {
        self.query("postgres", sql)
    }

    /// A lock of this server, for what must be done once.
    pub(crate) fn lock(&self, name: &str) -> Result<File> {
        place::lock(&self.inner.slot.dir.join(name))
    }
}

/// Registers as a user of the slot's server, which runs when this returns.
fn adopt_or_start(plan: &Plan<'_>) -> Result<File> {
    let slot = plan.slot;
    let _starting = place::lock(&slot.starting())?;
    let user = place::open_lock(&slot.users())?;
    let alone = user.try_lock().is_ok();
    user.lock_shared().map_err(Error::io(format_args!("lock {}", slot.users().display())))?;
    if launch::is_running(slot)? {
        return Ok(user);
    }
    remains::clear(slot);
    // Others who use the server keep their data over its crash.
    let is_kept = plan.leaves == Leaves::Data || !alone;
    if !is_kept || !slot.data().exists() {
        plan.start_fresh()?
    } else {
        plan.start()?
    }
    Ok(user)
}

/// Percent-encodes what is not plain in a URL.
fn encode(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let one = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(one).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_url_escapes_what_is_not_plain() {
        assert_eq!(super::encode("/var/tmp/a b&é"), "/var/tmp/a%20b%26%C3%A9");
    }
}
