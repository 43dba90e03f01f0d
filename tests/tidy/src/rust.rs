//! Just enough of Rust's tokens to tell code from comments and strings.

use std::ops::Range;

/// A Rust file seen three ways; all offsets are those of the file.
#[derive(Debug)]
pub struct Rust {
    /// Comments blanked out.
    pub code: String,
    /// Comments and the contents of strings blanked out.
    pub bare: String,
    /// The contents of string literals.
    pub strings: Vec<Range<usize>>,
}

enum Token {
    Comment,
    Text { content: Range<usize> },
    Other,
}

impl Rust {
    pub fn read(text: &str) -> Self {
        let (mut code, mut bare) = (text.as_bytes().to_vec(), text.as_bytes().to_vec());
        let (mut at, mut strings) = (0, Vec::new());
        while at < text.len() {
            let (token, end) = token(text, at);
            match token {
                Token::Comment => {
                    blank(&mut code[at..end]);
                    blank(&mut bare[at..end]);
                }
                Token::Text { content } => {
                    blank(&mut bare[content.clone()]);
                    strings.push(content);
                }
                Token::Other => {}
            }
            at = end;
        }
        Self { code: into_text(code), bare: into_text(bare), strings }
    }

    /// Without the items that are compiled for tests only.
    pub fn bare_without_tests(&self) -> String {
        let mut bare = self.bare.clone().into_bytes();
        for mark in ["#[cfg(test)]", "#[cfg(all(test,"] {
            for (at, _) in self.bare.match_indices(mark) {
                blank(&mut bare[at..end_of_item(&self.bare, at + mark.len())]);
            }
        }
        into_text(bare)
    }
}

/// Where `word` stands with no part of a longer name before it.
pub fn words<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let continues = |at: usize| text[..at].chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(word).map(|(at, _)| at).filter(move |&at| !continues(at))
}

/// The name at the start of a text; empty if there is none.
pub fn name(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

fn into_text(bytes: Vec<u8>) -> String {
    // Whole characters were blanked, so nothing is lost.
    String::from_utf8_lossy(&bytes).into_owned()
}

fn blank(bytes: &mut [u8]) {
    bytes.iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
}

fn token(text: &str, at: usize) -> (Token, usize) {
    let rest = &text[at..];
    if rest.starts_with("//") {
        return (Token::Comment, at + rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return (Token::Comment, at + block_comment(rest));
    }
    if let Some(content) = rest.strip_prefix('"') {
        let end = at + 1 + plain_string(content);
        return (Token::Text { content: at + 1..end }, (end + 1).min(text.len()));
    }
    if let Some(token) = raw_string(text, at) {
        return token;
    }
    if rest.starts_with('\'') {
        return (Token::Other, at + character(rest));
    }
    // A name is one token, so that the `r` at its end starts no raw string.
    let length = name(rest).len().max(rest.chars().next().map_or(1, char::len_utf8));
    (Token::Other, at + length)
}

fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        match rest.as_bytes()[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

/// The length of the content, up to the closing quote.
fn plain_string(rest: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at,
            _ => {}
        }
    }
    rest.len()
}

/// `r"…"`, `r#"…"#`, `br"…"`, `cr"…"`.
fn raw_string(text: &str, at: usize) -> Option<(Token, usize)> {
    let rest = &text[at..];
    let after = ["r", "br", "cr"].iter().find_map(|prefix| rest.strip_prefix(prefix))?;
    let opened = after.trim_start_matches('#');
    let hashes = &after[..after.len() - opened.len()];
    let content = opened.strip_prefix('"')?;
    let start = text.len() - content.len();
    let closing = format!("\"{hashes}");
    let length = content.find(&closing).unwrap_or(content.len());
    Some((Token::Text { content: start..start + length }, (start + length + closing.len()).min(text.len())))
}

/// A character literal, or the quote of a lifetime.
fn character(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), Some(_)) => chars.find(|&(_, c)| c == '\'').map_or(rest.len(), |(at, _)| at + 1),
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 1,
    }
}

/// Past the item that starts here: its braces, or its semicolon if it has none.
fn end_of_item(bare: &str, from: usize) -> usize {
    let mut depth = 0;
    for (at, byte) in bare.bytes().enumerate().skip(from) {
        match byte {
            b'{' => depth += 1,
            b'}' if depth <= 1 => return at + 1,
            b'}' => depth -= 1,
            b';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    bare.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_strings_are_told_from_code() {
        let text =
            "let a = \"x // y\\\" z\"; // note 'c\nlet b = r#\"q\" w\"#; /* a /* b */ c */ let l: &'a str = '\"';";
        let rust = Rust::read(text);
        let strings: Vec<_> = rust.strings.iter().map(|range| &text[range.clone()]).collect();
        assert_eq!(strings, ["x // y\\\" z", "q\" w"]);
        assert!(rust.code.contains("x // y") && !rust.code.contains("note") && !rust.code.contains("a /*"));
        assert!(!rust.bare.contains("x //") && rust.bare.contains("let l: &'a str = '\"';"));
        assert_eq!((rust.code.len(), rust.bare.len()), (text.len(), text.len()));
    }

    #[test]
    fn a_name_that_ends_in_r_starts_no_raw_string() {
        let text = "expr\"a\"b\"c\"";
        assert_eq!(Rust::read(text).strings, [5..6, 9..10]);
    }

    #[test]
    fn items_for_tests_are_left_out() {
        let rust = Rust::read(
            "fn a() {}\n#[cfg(test)]\nmod tests { fn b() { x } }\nfn c() {}\n#[cfg(test)]\nmod d;\nfn e() {}",
        );
        let bare = rust.bare_without_tests();
        assert!(["fn a", "fn c", "fn e"].iter().all(|kept| bare.contains(kept)), "{bare}");
        assert!(!["fn b", "mod d", "fn f"].iter().any(|gone| bare.contains(gone)), "{bare}");
    }
}
