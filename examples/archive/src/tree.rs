//! The files of a directory, in batches.

use std::{io, path::Path};

use walkdir::WalkDir;

use crate::name::Name;

/// What a batch has, at most: so many files, and so many bytes unless its only file has more. A kill costs no more than
/// the batches that were being hashed.
const FILES: usize = 64;
const BYTES: u64 = 256 << 20;

/// The regular files below `directory`, relative to it, in the order of their paths' parts; links are not followed.
///
/// # Errors
/// When the directory itself cannot be read.
pub fn batches(directory: &Path, leave_out: impl Fn(&Path) -> bool) -> io::Result<Vec<Vec<Name>>> {
    let mut batches = Batches::default();
    let mut add = |path: &Path, bytes| batches.add(Name::of(path.strip_prefix(directory).unwrap_or(path)), bytes);
    for entry in WalkDir::new(directory).sort_by_file_name() {
        match entry {
            Ok(file) if file.file_type().is_file() && !leave_out(file.path()) => {
                add(file.path(), file.metadata().map_or(0, |metadata| metadata.len()));
            }
            // A directory, a link, a pipe.
            Ok(_) => {}
            // A directory that cannot be read is handed out like a file: whoever opens it says why.
            Err(error) => match error.path() {
                Some(path) if error.depth() > 0 => add(path, 0),
                Some(_) | None => return Err(error.into()),
            },
        }
    }
    Ok(batches.full)
}

#[derive(Default)]
struct Batches {
    full: Vec<Vec<Name>>,
    /// Of the last one.
    bytes: u64,
}

impl Batches {
    fn add(&mut self, file: Name, bytes: u64) {
        match self.full.last_mut() {
            Some(last) if last.len() < FILES && self.bytes.saturating_add(bytes) <= BYTES => {
                last.push(file);
                self.bytes += bytes;
            }
            _ => {
                self.full.push(vec![file]);
                self.bytes = bytes;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(bytes: impl IntoIterator<Item = u64>) -> Vec<usize> {
        let mut batches = Batches::default();
        bytes.into_iter().for_each(|bytes| batches.add(Name::of(Path::new("file")), bytes));
        batches.full.iter().map(Vec::len).collect()
    }

    #[test]
    fn a_batch_ends_with_its_files_or_with_its_bytes() {
        assert!(sizes([]).is_empty());
        assert_eq!(sizes(vec![1; 2 * FILES + 1]), [FILES, FILES, 1]);
        assert_eq!(sizes([BYTES - 1, 1, 1]), [2, 1]);
        assert_eq!(sizes([u64::MAX, u64::MAX, 1]), [1, 1, 1]);
    }
}
