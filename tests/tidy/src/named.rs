//! Tests that the bug log names.

use std::collections::HashSet;

use crate::{Offence, Source};

const LOG: &str = "tests/suite/BUGLOG.md";

/// Every test that the log names is there.
pub fn missing(sources: &[Source]) -> Vec<Offence> {
    let tests = sources.iter().filter(|source| source.is("rs") && source.path.starts_with("tests/"));
    let known: HashSet<&str> = tests.flat_map(|source| functions(&source.text)).collect();
    sources.iter().filter(|source| source.path == LOG).flat_map(|log| missing_of(log, &known)).collect()
}

/// A test's name has many words: what else stands in backticks has few.
fn missing_of(log: &Source, known: &HashSet<&str>) -> Vec<Offence> {
    let quoted = log.text.match_indices('`').step_by(2).filter_map(|(at, _)| {
        let rest = &log.text[at + 1..];
        Some((at, &rest[..rest.find('`')?]))
    });
    let gone = quoted.filter(|(_, name)| name.matches('_').count() > 2 && !known.contains(name));
    gone.map(|(at, name)| log.offence(at, format!("no test is named `{name}`"))).collect()
}

fn functions(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("fn ").map(|(at, _)| {
        let name = &text[at + 3..];
        &name[..name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len())]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_is_gone_is_found() {
        let log = |name: &str| Source::new(LOG, &format!("`tests/tidy`: `a_test_that_is_there`,\n`{name}`"));
        let tests = Source::new("tests/a.rs", "async fn a_test_that_is_there(db: Db) {}");
        assert_eq!(missing(&[log("a_test_that_is_there"), tests.clone()]), []);
        let found = missing(&[log("a_test_that_is_gone"), tests]);
        assert_eq!(found.iter().map(|o| o.line).collect::<Vec<_>>(), [2]);
    }
}
