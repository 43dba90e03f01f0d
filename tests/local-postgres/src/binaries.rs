//! Where the server's programs are.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Error, Result};

/// An installed PostgreSQL.
#[derive(Clone, Debug)]
pub(crate) struct Binaries {
    pub(crate) dir: PathBuf,
    /// As the server prints it: `15.18`, `17beta1`.
    pub(crate) version: String,
}

const INSTALL: &str = "no PostgreSQL server found: install one (Debian, Ubuntu: `apt-get install postgresql`; \
     Fedora: `dnf install postgresql-server`; macOS: `brew install postgresql`) or set GEN_DURABLE_PG_BIN to the \
     directory with `postgres` and `initdb`";

impl Binaries {
    /// Looks where the environment says, then where packages put them.
    pub(crate) fn find() -> Result<Self> {
        let dir = match env::var_os("GEN_DURABLE_PG_BIN").filter(|dir| !dir.is_empty()) {
            Some(dir) => named_dir(&dir)?,
            None => first_server_dir(candidates()).ok_or_else(|| Error::missing(INSTALL))?,
        };
        let version = version_of(&dir.join("postgres"))?;
        Ok(Self { dir, version })
    }

    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    pub(crate) fn major(&self) -> u32 {
        major_of(&self.version)
    }

    /// Whether the server could load this library. Packages differ in where they put them.
    pub(crate) fn has_library(&self, name: &str) -> bool {
        let near = ["../lib", "../lib/postgresql", "../lib64/pgsql"].map(|dir| self.dir.join(dir));
        let told = printed_path(&self.program("pg_config"), "--pkglibdir");
        near.into_iter()
            .chain(told)
            .any(|dir| ["so", "dylib"].iter().any(|ext| dir.join(name).with_extension(ext).exists()))
    }
}

fn named_dir(dir: &OsStr) -> Result<PathBuf> {
    let dir = PathBuf::from(dir);
    if is_server_dir(&dir) {
        return Ok(dir);
    }
    Err(Error::missing(format!("{INSTALL} (it is {}, which lacks them)", dir.display())))
}

fn candidates() -> impl Iterator<Item = PathBuf> {
    let told = printed_path(Path::new("pg_config"), "--bindir");
    let path = env::var_os("PATH").unwrap_or_default();
    let path: Vec<PathBuf> = env::split_paths(&path).collect();
    told.into_iter().chain(path).chain(packaged())
}

/// The directories of the usual packages, the newest version of each first.
fn packaged() -> impl Iterator<Item = PathBuf> {
    let versioned = [
        ("/usr/lib/postgresql", "", "bin"),
        ("/usr", "pgsql-", "bin"),
        ("/opt/homebrew/opt", "postgresql@", "bin"),
        ("/usr/local/opt", "postgresql@", "bin"),
        ("/Applications/Postgres.app/Contents/Versions", "", "bin"),
    ];
    let fixed = ["/usr/local/pgsql/bin", "/usr/local/bin", "/opt/homebrew/bin", "/usr/libexec/postgresql"];
    let versioned =
        versioned.into_iter().flat_map(|(parent, prefix, bin)| newest_first(Path::new(parent), prefix, bin));
    versioned.chain(fixed.into_iter().map(PathBuf::from))
}

fn newest_first(parent: &Path, prefix: &str, bin: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
    let mut found: Vec<(u32, PathBuf)> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            Some((name.strip_prefix(prefix)?.parse().ok()?, entry.path().join(bin)))
        })
        .collect();
    found.sort();
    found.into_iter().rev().map(|(_, dir)| dir).collect()
}

fn first_server_dir(mut dirs: impl Iterator<Item = PathBuf>) -> Option<PathBuf> {
    dirs.find(|dir| is_server_dir(dir))
}

fn is_server_dir(dir: &Path) -> bool {
    ["postgres", "initdb"].iter().all(|program| dir.join(program).is_file())
}

/// A program in `PATH`.
pub(crate) fn in_path(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .chain(["/bin".into(), "/usr/bin".into()])
        .map(|dir| dir.join(program))
        .find(|file| file.is_file())
}

fn printed_path(program: &Path, argument: &str) -> Option<PathBuf> {
    let printed = Command::new(program).arg(argument).output().ok()?;
    let text = String::from_utf8(printed.stdout).ok()?;
    printed.status.success().then(|| PathBuf::from(text.trim()))
}

fn version_of(postgres: &Path) -> Result<String> {
    let printed = Command::new(postgres).arg("--version").output();
    let printed = printed.map_err(Error::io(format_args!("run {}", postgres.display())))?;
    parse_version(&String::from_utf8_lossy(&printed.stdout))
        .ok_or_else(|| Error::other(format!("{} --version does not print a version", postgres.display())))
}

/// `postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)` is `15.18`.
fn parse_version(printed: &str) -> Option<String> {
    let version = printed.split_once("(PostgreSQL) ")?.1.split_whitespace().next()?;
    version.chars().all(|c| c.is_ascii_alphanumeric() || c == '.').then(|| version.to_owned())
}

fn major_of(version: &str) -> u32 {
    let digits = version.find(|c: char| !c.is_ascii_digit()).unwrap_or(version.len());
    version[..digits].parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_read_off_what_the_server_prints() {
        assert_eq!(parse_version("postgres (PostgreSQL) 15.18 (Debian 15.18-0)").as_deref(), Some("15.18"));
        assert_eq!(parse_version("postgres (PostgreSQL) 17beta1\n").as_deref(), Some("17beta1"));
        assert_eq!(parse_version("postgres (PostgreSQL) ../x"), None);
        assert_eq!((major_of("15.18"), major_of("17beta1"), major_of("devel")), (15, 17, 0));
    }

    #[test]
    fn a_directory_without_a_server_is_passed_over() {
        assert_eq!(first_server_dir(["/nonexistent".into(), "/".into()].into_iter()), None);
    }
}
