//! Directories and locks: whose they are and where they stand.

use std::env;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::account::{Account, own_uid};
use crate::{Error, Profile, Result};

/// The longest path of a UNIX socket that every system takes (macOS: 103).
const SOCKET_PATH_MAX: usize = 103;

/// Room for the data and the log of a whole test run. Containers give 64 MB unless told otherwise.
const TMPFS_BYTES_MIN: u64 = 4 << 30;

/// All that belongs to one version of the server.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) dir: PathBuf,
    pub(crate) account: Option<Account>,
}

/// The directory of one server.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) dir: PathBuf,
}

impl Place {
    pub(crate) fn open(version: &str, profile: Profile, account: Option<Account>) -> Result<Self> {
        Self::open_in(parent(profile), version, account)
    }

    /// For data that outlive their server: never in memory.
    pub(crate) fn open_kept(major: u32, account: Option<Account>) -> Result<Self> {
        Self::open_in(DISK, &format!("kept-{major}"), account)
    }

    fn open_in(parent: &str, name: &str, account: Option<Account>) -> Result<Self> {
        let root = match env::var_os("GEN_DURABLE_PG_DIR").filter(|dir| !dir.is_empty()) {
            Some(dir) => PathBuf::from(dir),
            None => Path::new(parent).join(format!("gen-durable-pg-{}", own_uid())),
        };
        make_own_dir(&root)?;
        let root = root.canonicalize().map_err(Error::io(format_args!("resolve {}", root.display())))?;
        let dir = root.join(name);
        make_own_dir(&dir)?;
        let place = Self { dir, account };
        place.make_server_dir(&place.dir.join("home"))?;
        Ok(place)
    }

    /// Where the initialised cluster stands that every start copies.
    pub(crate) fn pristine(&self) -> PathBuf {
        self.dir.join("home/pristine")
    }

    /// Held while the pristine cluster is made and while private servers are set up or swept.
    pub(crate) fn lock(&self) -> Result<File> {
        lock(&self.dir.join("lock"))
    }

    pub(crate) fn slot(&self, name: &str) -> Result<Slot> {
        let slot = Slot { dir: self.dir.join(name) };
        make_own_dir(&slot.dir)?;
        self.make_server_dir(&slot.home())?;
        let socket = slot.socket();
        if socket.as_os_str().len() > SOCKET_PATH_MAX {
            return Err(Error::other(format!(
                "the socket path {} is longer than {SOCKET_PATH_MAX} bytes: set GEN_DURABLE_PG_DIR to a shorter directory",
                socket.display()
            )));
        }
        Ok(slot)
    }

    /// A directory only the server's account (and root) can enter: with trust authentication this is the door.
    fn make_server_dir(&self, dir: &Path) -> Result<()> {
        make_dir(dir, 0o700)?;
        match self.account {
            Some(account) => account.own(dir).map_err(Error::io(format_args!("hand over {}", dir.display()))),
            None => Ok(()),
        }
    }
}

impl Slot {
    pub(crate) fn home(&self) -> PathBuf {
        self.dir.join("home")
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.dir.join("home/data")
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.dir.join("home/.s.PGSQL.5432")
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.dir.join("server.log")
    }

    pub(crate) fn users(&self) -> PathBuf {
        self.dir.join("users")
    }

    pub(crate) fn watcher(&self) -> PathBuf {
        self.dir.join("watcher")
    }

    pub(crate) fn starting(&self) -> PathBuf {
        self.dir.join("lock")
    }
}

/// Where everybody may have a directory that stays over a restart of the machine.
const DISK: &str = "/var/tmp";

/// Where everybody may have a directory. Tests make and drop a database each: measured, 20 ms in memory against 110
/// on a disk that just deleted the last ones.
fn parent(profile: Profile) -> &'static str {
    match profile {
        Profile::Fast if tmpfs_bytes() >= TMPFS_BYTES_MIN => "/dev/shm",
        Profile::Fast | Profile::Durable => DISK,
    }
}

/// Its size, not what is free: all processes must come to the same answer.
fn tmpfs_bytes() -> u64 {
    // SAFETY: `statvfs` is plain data for which zeroes are valid; both pointers outlive the call.
    let found = unsafe {
        let mut found: libc::statvfs = std::mem::zeroed();
        (libc::statvfs(c"/dev/shm".as_ptr(), &raw mut found) == 0).then_some(found)
    };
    // The fields' types differ between systems.
    #[allow(clippy::useless_conversion, reason = "narrower elsewhere")]
    found.map_or(0, |found| u64::from(found.f_blocks).saturating_mul(u64::from(found.f_frsize)))
}

/// A directory of ours that others may walk through but neither list nor change.
fn make_own_dir(dir: &Path) -> Result<()> {
    make_dir(dir, 0o711)?;
    let found = fs::symlink_metadata(dir).map_err(Error::io(format_args!("look at {}", dir.display())))?;
    // In a directory open to all, another user may have made it first.
    if !found.is_dir() || found.uid() != own_uid() || found.mode() & 0o022 != 0 {
        return Err(Error::other(format!("{} is not a directory of this user alone: remove it", dir.display())));
    }
    Ok(())
}

fn make_dir(dir: &Path, mode: u32) -> Result<()> {
    match DirBuilder::new().mode(mode).create(dir) {
        // Once more: the process's umask may have taken bits away.
        Ok(()) => fs::set_permissions(dir, Permissions::from_mode(mode)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
    .map_err(Error::io(format_args!("make the directory {}", dir.display())))
}

pub(crate) fn open_lock(path: &Path) -> Result<File> {
    // For nobody else, so that nobody else can hold it.
    let file = File::options().read(true).write(true).create(true).truncate(false).mode(0o600).open(path);
    file.map_err(Error::io(format_args!("open {}", path.display())))
}

/// Waits for the lock; it is let go when the file is dropped.
pub(crate) fn lock(path: &Path) -> Result<File> {
    let file = open_lock(path)?;
    file.lock().map_err(Error::io(format_args!("lock {}", path.display())))?;
    Ok(file)
}

/// The lock, if nobody holds it.
pub(crate) fn try_lock(path: &Path) -> Result<Option<File>> {
    let file = open_lock(path)?;
    Ok(file.try_lock().is_ok().then_some(file))
}
