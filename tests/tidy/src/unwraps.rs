//! The published crates do not panic on what they could report.

use crate::rust::Rust;
use crate::{Offence, Source};

/// Crates in which a panic would be a user's: the macros report with spans, the runtime with errors.
const PUBLISHED: &[&str] = &["gen-durable/src/", "gen-durable-runtime/src/", "gen-durable-macros/src/"];

/// Outside tests no `.unwrap()`, and no `.expect(…)` whose message or a comment does not say why it holds.
pub fn check(sources: &[Source]) -> Vec<Offence> {
    let published = sources.iter().filter(|source| {
        source.is("rs") && PUBLISHED.iter().any(|dir| source.path.starts_with(dir)) && !is_test(&source.path)
    });
    published.flat_map(check_one).collect()
}

/// "poisoned" names the fault; "never empty" says why there is none.
const REASON_WORDS_MIN: usize = 2;

/// A file that only `#[cfg(test)] mod …;` brings in.
fn is_test(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.ends_with("_tests.rs") || path.contains("/tests/")
}

fn check_one(source: &Source) -> Vec<Offence> {
    let bare = Rust::read(&source.text).bare_without_tests();
    let unwraps =
        bare.match_indices(".unwrap()").map(|(at, _)| source.offence(at, "`.unwrap()`: report it, or say why not"));
    let expects = bare.match_indices(".expect(").filter(|&(at, _)| !has_reason(&source.text, at));
    let expects =
        expects.map(|(at, _)| source.offence(at, "`.expect(…)`: let its message, or a comment, say why it holds"));
    unwraps.chain(expects).collect()
}

/// A message of more than a word, or a comment on the line of this byte or on the one above.
fn has_reason(text: &str, at: usize) -> bool {
    let argument = text[at + ".expect(".len()..].trim_start();
    let message = argument.strip_prefix('"').and_then(|content| content.split('"').next()).unwrap_or("");
    if message.split_whitespace().count() >= REASON_WORDS_MIN {
        return true;
    }
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = text[start..].lines().next().unwrap_or("");
    let above = text[..start].lines().next_back().unwrap_or("");
    line.contains("// ") || above.trim_start().starts_with("// ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offences(text: &str) -> usize {
        check(&[Source::new("gen-durable-runtime/src/engine/a.rs", text)]).len()
    }

    #[test]
    fn a_panic_without_a_reason_is_found() {
        assert_eq!(offences("fn f() { x.unwrap() }"), 1);
        assert_eq!(offences("fn f() {\n    x.expect(\"whole\")\n}"), 1);
        assert_eq!(offences("/// Doc.\nfn f() { x.expect(\"whole\") }"), 1);
    }

    #[test]
    fn a_reason_or_a_test_is_enough() {
        assert_eq!(offences("// The length was checked above.\nx.expect(\"whole\")"), 0);
        assert_eq!(offences("x.expect(\"whole\") // checked above"), 0);
        assert_eq!(offences("x.expect(\"the macro checked the length\")"), 0);
        assert_eq!(offences("#[cfg(test)]\nmod tests { fn f() { x.unwrap(); y.expect(\"z\"); } }"), 0);
        assert_eq!(offences("/// `x.unwrap()`\nfn f() { x.unwrap_or(1); g(\".unwrap()\") }"), 0);
    }
}
