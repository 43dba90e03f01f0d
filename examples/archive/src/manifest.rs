//! The manifest, as `sha256sum` writes it and `sha256sum -c` reads it.

use std::{
    ffi::OsStr,
    io,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use tokio::{
    fs::{self, File},
    io::{AsyncWriteExt, BufWriter},
};

pub const NAME: &str = "manifest.sha256";

/// A manifest under construction: beside the old one, which it replaces when it is whole.
#[derive(Debug)]
pub struct Manifest {
    path: PathBuf,
    part: PathBuf,
    file: BufWriter<File>,
}

impl Manifest {
    /// `of` is the instance: nobody else writes what it left when it was killed.
    pub async fn begin(path: &Path, of: &str) -> io::Result<Self> {
        Self::open(path, of).await.map_err(|error| named(path, &error))
    }

    async fn open(path: &Path, of: &str) -> io::Result<Self> {
        let mine = format!(".{NAME}.{of}.");
        remove_parts(directory(path), &mine).await?;
        // A process that lost its claim may still be writing. It renames its own file, which is gone, and fails.
        let part = path.with_file_name(format!("{mine}{}", std::process::id()));
        let file = BufWriter::new(File::create(&part).await?);
        Ok(Self { path: path.to_owned(), part, file })
    }

    pub async fn add(&mut self, file: &Path, sha256: &str) -> io::Result<()> {
        self.file.write_all(&line(file, sha256)).await.map_err(|error| named(&self.part, &error))
    }

    /// From here on there is the new one, whatever happens to the machine.
    pub async fn end(mut self) -> io::Result<()> {
        self.replace().await.map_err(|error| named(&self.path, &error))
    }

    async fn replace(&mut self) -> io::Result<()> {
        self.file.flush().await?;
        self.file.get_ref().sync_all().await?;
        fs::rename(&self.part, &self.path).await?;
        File::open(directory(&self.path)).await?.sync_all().await
    }
}

/// One that was not ended is nobody's.
impl Drop for Manifest {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.part);
    }
}

/// What a killed run had begun to write.
pub fn is_part(manifest: &Path, path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_bytes();
    path.parent() == manifest.parent() && name.starts_with(format!(".{NAME}.").as_bytes())
}

async fn remove_parts(directory: &Path, of: &str) -> io::Result<()> {
    let mut files = fs::read_dir(directory).await?;
    while let Some(file) = files.next_entry().await? {
        if file.file_name().as_bytes().starts_with(of.as_bytes()) {
            fs::remove_file(file.path()).await?;
        }
    }
    Ok(())
}

/// What is kept of an error must say where it was.
fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

fn directory(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

/// What stands before a file's name: as short as it can be and still be found from where the manifest lies. `./` keeps
/// a file `-` from being taken for the standard input.
pub fn prefix(directory: &Path, manifest: &Path) -> PathBuf {
    match manifest.parent().and_then(|place| directory.strip_prefix(place).ok()) {
        Some(below) => Path::new(".").join(below),
        None => directory.to_owned(),
    }
}

/// A name with a line's end or a backslash is escaped, and a backslash before the hash says so.
fn line(file: &Path, sha256: &str) -> Vec<u8> {
    let name: &OsStr = file.as_os_str();
    let mut escaped = Vec::new();
    for byte in name.as_bytes() {
        match byte {
            b'\n' => escaped.extend(b"\\n"),
            b'\r' => escaped.extend(b"\\r"),
            b'\\' => escaped.extend(b"\\\\"),
            other => escaped.push(*other),
        }
    }
    let mark: &[u8] = if escaped.len() > name.len() { b"\\" } else { b"" };
    [mark, sha256.as_bytes(), b"  ", &escaped, b"\n"].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_from_where_the_manifest_lies() {
        let prefix = |directory: &str| prefix(Path::new(directory), Path::new("/home/ada/manifest.sha256"));
        assert_eq!(prefix("/home/ada").join("x"), Path::new("./x"));
        assert_eq!(prefix("/home/ada/photos").join("x"), Path::new("./photos/x"));
        assert_eq!(prefix("/srv").join("x"), Path::new("/srv/x"));
    }

    #[test]
    fn only_odd_names_are_escaped() {
        let line = |name: &[u8]| line(Path::new(OsStr::from_bytes(name)), "00");
        assert_eq!(line(b"./a b"), b"00  ./a b\n");
        assert_eq!(line(b"./\xFF"), b"00  ./\xFF\n");
        assert_eq!(line(b"./a\nb\r\\"), b"\\00  ./a\\nb\\r\\\\\n");
    }
}
