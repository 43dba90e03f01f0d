use std::{
    io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

/// Tells the kits of one process apart.
static PLACES: AtomicU64 = AtomicU64::new(0);

/// A directory of its own, gone with the kit.
#[derive(Debug)]
pub(super) struct Place(PathBuf);

impl Place {
    pub(super) fn new() -> io::Result<Self> {
        loop {
            let number = PLACES.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("gen-durable-kit-{}-{number}", std::process::id()));
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(Self(path)),
                // A process of the same id, long ago.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What cannot be removed is left to whoever empties the directory for temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
