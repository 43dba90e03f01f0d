//! A database of a test's own, and a tree beside it.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs,
    os::unix::{
        ffi::OsStrExt,
        fs::{MetadataExt, PermissionsExt, chown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Command, Output},
};

use local_postgres::Profile;

/// An empty directory, in which the binary runs and makes its database when nobody names one; or one on Postgres.
pub struct Place {
    pub directory: PathBuf,
    server: Option<local_postgres::Database>,
}

impl Place {
    pub fn sqlite() -> Self {
        Self::new(None)
    }

    pub fn postgres() -> Self {
        let database = local_postgres::shared(Profile::Fast).and_then(|server| server.create_database());
        Self::new(Some(database.expect("a server is installed")))
    }

    fn new(server: Option<local_postgres::Database>) -> Self {
        let path = std::env::temp_dir().join(format!("archive-test-{:016x}", rand::random::<u64>()));
        fs::create_dir(&path).expect("a writable directory");
        Self { directory: path.canonicalize().expect("it stands"), server }
    }

    pub fn url(&self) -> String {
        match &self.server {
            Some(server) => server.url(),
            None => format!("sqlite://{}/gen-durable.db", self.directory.display()),
        }
    }

    /// The example's binary on this database, here.
    pub fn archive(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_archive"));
        command.args(args).current_dir(&self.directory).env_remove("DATABASE_URL");
        command.envs(self.server.as_ref().map(|server| ("DATABASE_URL", server.url())));
        command
    }

    /// As [`Place::archive`], by somebody whom permissions hold: not by the superuser.
    pub fn unprivileged(&self, args: &[&str]) -> Command {
        const NOBODY: u32 = 65_534;
        // SAFETY: it asks for a number.
        if unsafe { libc::geteuid() } != 0 {
            return self.archive(args);
        }
        // The server's own account finds the socket.
        let owner = self.server.as_ref().map(|s| fs::metadata(s.server().socket_dir()).expect("it runs").uid());
        let account = owner.unwrap_or(NOBODY);
        chown(&self.directory, Some(account), None).expect("the superuser");
        // Where it was built may be closed to others.
        let binary = self.directory.join("archive");
        fs::copy(env!("CARGO_BIN_EXE_archive"), &binary).expect("a copy");
        let mut command = Command::new(binary);
        command.args(["--database", &self.url()]).args(args).current_dir(&self.directory).env("HOME", &self.directory);
        command.uid(account);
        command
    }

    /// Makes a file, and the directories it stands in.
    pub fn file(&self, name: impl AsRef<OsStr>, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.directory.join(name.as_ref());
        fs::create_dir_all(path.parent().expect("below the directory")).expect("a writable directory");
        fs::write(&path, content).expect("a writable directory");
        path
    }

    /// The lines of the manifest, once `sha256sum -c` has accepted all of them.
    pub fn accepted(&self) -> Vec<Vec<u8>> {
        accepted(&self.directory)
    }
}

pub fn accepted(place: &Path) -> Vec<Vec<u8>> {
    let mut check = Command::new("sha256sum");
    let Output { status, stdout, stderr } =
        check.args(["-c", "--strict", "--quiet", "manifest.sha256"]).current_dir(place).output().expect("sha256sum");
    let said = [String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr)].concat();
    assert!(status.success() && said.is_empty(), "{status}\n{said}");
    let text = fs::read(place.join("manifest.sha256")).expect("a manifest");
    let lines: Vec<Vec<u8>> = text.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    assert_eq!(lines.iter().collect::<BTreeSet<_>>().len(), lines.len(), "a line for each file");
    lines
}

/// The names of plain lines.
pub fn names(lines: &[Vec<u8>]) -> Vec<String> {
    lines.iter().map(|line| String::from_utf8_lossy(&line[66..]).trim_end().to_owned()).collect()
}

pub fn to_its_end(mut command: Command) -> (String, String) {
    let Output { status, stdout, stderr } = command.output().expect("the binary was built");
    let [stdout, stderr] = [stdout, stderr].map(|bytes| String::from_utf8(bytes).expect("text"));
    assert!(status.success(), "{status}\n{stdout}\n{stderr}");
    (stdout, stderr)
}

/// Nobody may read it, the superuser excepted.
pub fn lock(path: &Path) {
    fs::set_permissions(path, PermissionsExt::from_mode(0o000)).expect("our file");
}

/// So that it can be removed.
pub fn unlock(directory: &Path) {
    fs::set_permissions(directory, PermissionsExt::from_mode(0o700)).expect("our directory");
}

pub fn bytes(name: &[u8]) -> &OsStr {
    OsStr::from_bytes(name)
}

/// Removed at the end, with what is in it.
impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}
