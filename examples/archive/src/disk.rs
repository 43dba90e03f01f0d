//! Serves the steps: this machine's files.

use std::path::{Path, PathBuf};

use gen_durable::{Client, Error};

use crate::{manifest, name::Name};

#[derive(Debug)]
pub struct Disk {
    /// Of the database, when it is one.
    file: Option<PathBuf>,
}

impl Disk {
    pub async fn connect(client: &Client) -> Result<Self, Error> {
        Ok(Self::on(client.url()))
    }

    pub fn on(url: &str) -> Self {
        // `sqlite://file.db`, `sqlite:///absolute/file.db`; percent signs mean in a URL what they mean in a name.
        let file = url.strip_prefix("sqlite:").map(|rest| rest.strip_prefix("//").unwrap_or(rest));
        let file = file.and_then(|rest| rest.split('?').next());
        Self { file: file.map(|file| Name::encoded(file).path()) }
    }

    /// Whether a file is not of the tree but of this program: the manifest that will be replaced, one that was being
    /// written when a run was killed, or the database, which changes as the files are hashed.
    pub fn is_own(&self, manifest: &Path) -> impl Fn(&Path) -> bool + use<> {
        // Only now: a worker connects before the file is made.
        let database = self.file.as_ref().and_then(|file| file.canonicalize().ok());
        let of_database = ["", "-wal", "-shm", "-journal"].map(|end| {
            let mut path = database.clone().unwrap_or_default().into_os_string();
            path.push(end);
            PathBuf::from(path)
        });
        let manifest = manifest.to_owned();
        move |path| path == manifest || manifest::is_part(&manifest, path) || of_database.iter().any(|own| own == path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_program_writes_is_not_of_the_tree() {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR"));
        let disk = Disk::on(&format!("sqlite://{}/Cargo%2Etoml?mode=rwc", directory.display()));
        let is_own = disk.is_own(&directory.join("manifest.sha256"));
        let own = ["manifest.sha256", ".manifest.sha256.7.123", "Cargo.toml", "Cargo.toml-wal", "Cargo.toml-shm"];
        assert!(own.iter().all(|file| is_own(&directory.join(file))));
        let of_tree = ["src/manifest.sha256", "Cargo.toml-backup", "manifest.sha256.old", "src/.manifest.sha256.7.123"];
        assert!(!of_tree.iter().any(|file| is_own(&directory.join(file))));
    }

    #[test]
    fn a_server_has_no_file_here() {
        assert_eq!(Disk::on("postgres://localhost/archive").file, None);
    }
}
