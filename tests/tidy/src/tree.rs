//! The files that are ours, and where something is wrong in one.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// A text file, its path relative to the root with `/` between.
#[derive(Clone, Debug)]
pub struct Source {
    pub path: String,
    pub text: String,
}

/// Where a rule is broken, and how.
#[derive(Debug, PartialEq, Eq)]
pub struct Offence {
    pub path: String,
    pub line: usize,
    pub what: String,
}

impl Source {
    pub fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }

    /// An offence at a byte of the text.
    pub fn offence(&self, at: usize, what: impl Into<String>) -> Offence {
        let before = &self.text.as_bytes()[..at.min(self.text.len())];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        Offence { path: self.path.clone(), line, what: what.into() }
    }

    pub fn is(&self, extension: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|found| found == extension)
    }

    /// The directory it stands in, without a `/` at the end.
    pub fn dir(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(dir, _)| dir)
    }
}

impl fmt::Display for Offence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// Directories that are not ours: built, or another program's.
fn is_foreign(name: &str) -> bool {
    matches!(name, "target" | ".git" | "node_modules")
}

/// Every text file of the tree, in the order of their paths.
pub fn read(root: &Path) -> Vec<Source> {
    let mut paths = Vec::new();
    collect(root, &mut paths);
    paths.sort();
    paths.into_iter().filter_map(|path| source(root, &path)).collect()
}

fn collect(dir: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && !is_foreign(&entry.file_name().to_string_lossy()) {
            collect(&entry.path(), paths);
        } else if kind.is_file() {
            paths.push(entry.path());
        }
    }
}

/// `None` for what is not text, or is gone by now.
fn source(root: &Path, path: &Path) -> Option<Source> {
    let relative = path.strip_prefix(root).ok()?;
    let text = fs::read_to_string(path).ok().filter(|text| !text.contains('\0'))?;
    Some(Source { path: relative.to_string_lossy().replace('\\', "/"), text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offence_names_its_line() {
        let source = Source::new("a/b.rs", "one\ntwo\nthree");
        assert_eq!(source.offence(5, "bad").to_string(), "a/b.rs:2: bad");
        assert_eq!(source.dir(), "a");
    }

    #[test]
    fn a_tree_is_read_without_what_was_built() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let paths: Vec<_> = read(root).into_iter().map(|source| source.path).collect();
        assert!(paths.contains(&"src/tree.rs".to_owned()), "{paths:?}");
    }
}
