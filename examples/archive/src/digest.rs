//! The hash of one file.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::name::Name;

/// A line of the manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hashed {
    pub file: Name,
    pub sha256: String,
    pub bytes: u64,
}

/// A file without one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unreadable {
    pub file: Name,
    pub why: String,
}

/// Hashes a file of a directory.
///
/// # Errors
/// When it is gone, is another kind of file by now, or may not be read: nothing that trying again would change.
pub fn hash(directory: &Path, file: Name) -> Result<Hashed, Unreadable> {
    match open(&directory.join(file.path())).and_then(sha256) {
        Ok((sha256, bytes)) => Ok(Hashed { file, sha256, bytes }),
        Err(error) => Err(Unreadable { file, why: error.to_string() }),
    }
}

/// Since it was listed it may have become a link, or a pipe, which to open would wait for ever.
fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("not a regular file any more")),
    }
}

fn sha256(mut file: File) -> io::Result<(String, u64)> {
    let (mut hasher, mut buffer, mut bytes) = (Sha256::new(), vec![0; 64 << 10], 0);
    loop {
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => {
                hasher.update(&buffer[..read]);
                bytes += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok((hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect(), bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_hashed() {
        let this = hash(Path::new(env!("CARGO_MANIFEST_DIR")), Name::of(Path::new("src/digest.rs"))).expect("a file");
        assert_eq!((this.bytes, this.sha256.len()), (include_bytes!("digest.rs").len() as u64, 64));
    }

    #[test]
    fn what_is_gone_or_no_file_says_so() {
        let why = |file: &str| hash(Path::new("/dev"), Name::of(Path::new(file))).expect_err(file).why;
        assert_eq!(why("vanished"), "No such file or directory (os error 2)");
        assert_eq!(why("null"), "not a regular file any more");
        assert_eq!(why("stdin"), "Too many levels of symbolic links (os error 40)");
    }
}
