//! Paths as text: a path is bytes, JSON and business keys are Unicode.

use std::{
    ffi::OsString,
    fmt,
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::{Path, PathBuf},
};

use gen_durable::KeyPart;
use serde::{Deserialize, Serialize};

/// A path. What is no Unicode, what would move a terminal's cursor, and `%` are written `%FF`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, KeyPart)]
pub struct Name(String);

impl Name {
    pub fn of(path: &Path) -> Self {
        let mut text = String::new();
        for chunk in path.as_os_str().as_bytes().utf8_chunks() {
            for char in chunk.valid().chars() {
                match char {
                    c if c == '%' || c.is_control() => escape(&mut text, c.encode_utf8(&mut [0; 4]).as_bytes()),
                    c => text.push(c),
                }
            }
            escape(&mut text, chunk.invalid());
        }
        Self(text)
    }

    /// Text that is written this way already.
    pub fn encoded(text: &str) -> Self {
        Self(text.to_owned())
    }

    pub fn path(&self) -> PathBuf {
        let (mut bytes, mut rest) = (Vec::new(), self.0.as_bytes());
        while let Some((first, after)) = rest.split_first() {
            let (byte, after) = match (first, after) {
                (b'%', [high, low, after @ ..]) => match (digit(*high), digit(*low)) {
                    (Some(high), Some(low)) => (high << 4 | low, after),
                    _ => (b'%', &rest[1..]),
                },
                _ => (*first, after),
            };
            bytes.push(byte);
            rest = after;
        }
        OsString::from_vec(bytes).into()
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

fn escape(text: &mut String, bytes: &[u8]) {
    text.extend(bytes.iter().map(|byte| format!("%{byte:02X}")));
}

fn digit(hex: u8) -> Option<u8> {
    char::from(hex).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn every_path_comes_back() {
        for bytes in [&b"a/b c"[..], b"\xFF\xFEx", b"100%", b"%41", b"a\nb\x1b[2J", b"%", "ä/\u{85}".as_bytes()] {
            let path = Path::new(OsStr::from_bytes(bytes));
            let name = Name::of(path);
            assert_eq!(name.path(), path, "{name}");
            assert!(!name.0.chars().any(char::is_control), "{name:?}");
        }
        assert_eq!(Name::of(Path::new("100%\n")).to_string(), "100%25%0A");
    }
}
