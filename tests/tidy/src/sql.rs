//! SQL is text in `.sql` files, each with a head that says why, each used.

use std::collections::HashSet;

use crate::floors::RUNTIME;
use crate::rust::{self, Rust};
use crate::{Offence, Source};

const VERBS: &[&str] =
    &["SELECT ", "INSERT ", "UPDATE ", "DELETE ", "WITH ", "CREATE ", "ALTER ", "DROP ", "NOTIFY ", "LISTEN "];

/// No string of the runtime is a statement.
pub fn in_strings(sources: &[Source]) -> Vec<Offence> {
    let runtime = sources.iter().filter(|source| source.is("rs") && source.path.starts_with(RUNTIME));
    runtime.flat_map(statements).collect()
}

fn statements(source: &Source) -> Vec<Offence> {
    let strings = Rust::read(&source.text).strings.into_iter();
    let found = strings.filter(|range| {
        let text = source.text[range.clone()].trim_start_matches(|c: char| c.is_whitespace() || c == '\\');
        VERBS.iter().any(|verb| text.starts_with(verb))
    });
    found.map(|range| source.offence(range.start, "SQL in a string: give it a `.sql` file")).collect()
}

/// Every statement starts with a comment: which index serves it, what the lock is for.
pub fn without_head(sources: &[Source]) -> Vec<Offence> {
    let bare = sources.iter().filter(|source| source.is("sql") && !source.text.starts_with("--"));
    bare.map(|source| source.offence(0, "no head: start with a `--` comment")).collect()
}

/// Every statement is included somewhere.
pub fn unused(sources: &[Source]) -> Vec<Offence> {
    let used: HashSet<String> = sources.iter().filter(|source| source.is("rs")).flat_map(included).collect();
    let unused = sources.iter().filter(|source| source.is("sql") && !used.contains(&source.path));
    unused.map(|source| source.offence(0, "no `include_str!` names it")).collect()
}

/// Statements that one dialect alone has, and why. A statement is named by its file; `commit_x` is a part of `commit`.
const ALONE: &[(&str, &str)] = &[
    ("hold", "there are row locks to take"),
    ("hold_targets", "there are row locks to wait for"),
    ("renew_one", "there is a row lock to wait for"),
    ("charge_hold", "there are row locks to take"),
    ("notify", "a server passes wake-ups on"),
    ("transactions", "a server tells what became of a transaction"),
    ("standing", "the clock of a test is handed to a server"),
    ("settings", "a session behind a pooler has none of its own"),
    ("callers_settings", "there is a planner whose settings are ours"),
    ("clock", "the clock is a server's"),
    ("changes", "a file is looked at"),
    ("ids", "there are no sequences to draw from"),
];

/// Both dialects have the same statements: what one learns the other must answer too.
pub fn in_one_dialect(sources: &[Source]) -> Vec<Offence> {
    let statements = |dialect: &str| -> Vec<(&Source, String)> {
        let dir = format!("{RUNTIME}store/{dialect}/sql/");
        let named = |source: &'_ Source| Some(source.path.strip_prefix(&dir)?.strip_suffix(".sql")?.to_owned());
        sources.iter().filter_map(|source| Some((source, named(source)?))).collect()
    };
    let (postgres, sqlite) = (statements("postgres"), statements("sqlite"));
    let answers = |name: &str, others: &[(&Source, String)]| {
        let is_part = |whole: &str, part: &str| part.strip_prefix(whole).is_some_and(|rest| rest.starts_with('_'));
        others.iter().any(|(_, other)| name == other || is_part(name, other) || is_part(other, name))
            || ALONE.iter().any(|(alone, _)| name == *alone)
    };
    let missing = |ours: &[(&Source, String)], theirs: &[(&Source, String)]| {
        let missing = ours.iter().filter(|(_, name)| !answers(name, theirs));
        let missing = missing.map(|(source, name)| source.offence(0, format!("the other dialect has no `{name}`")));
        missing.collect::<Vec<_>>()
    };
    missing(&postgres, &sqlite).into_iter().chain(missing(&sqlite, &postgres)).collect()
}

/// The paths a file includes: named outright, or by the names given to a macro that builds them.
fn included(source: &Source) -> Vec<String> {
    let rust = Rust::read(&source.text);
    let mut paths = Vec::new();
    for range in &rust.strings {
        let before = rust.bare[..range.start - 1].trim_end();
        let literal = &source.text[range.clone()];
        if before.ends_with("include_str!(") {
            paths.push(resolved(source.dir(), literal));
        } else if before.ends_with("include_str!(concat!(") {
            paths.extend(names(&rust.bare).map(|name| resolved(source.dir(), &format!("{literal}{name}.sql"))));
        }
    }
    paths
}

fn names(bare: &str) -> impl Iterator<Item = &str> {
    let starts = bare.split(|c: char| !c.is_alphanumeric() && c != '_');
    starts.map(rust::name).filter(|name| !name.is_empty())
}

fn resolved(dir: &str, relative: &str) -> String {
    let mut parts: Vec<&str> = dir.split('/').filter(|part| !part.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." => {}
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_of_one_dialect_is_found() {
        let tree = |files: &[&str]| -> Vec<Source> {
            files.iter().map(|file| Source::new(&format!("{RUNTIME}store/{file}.sql"), "-- x")).collect()
        };
        let whole = tree(&["postgres/sql/claim", "postgres/sql/hold", "sqlite/sql/claim_take", "sqlite/sql/claim"]);
        assert_eq!(in_one_dialect(&whole), []);
        assert_eq!(in_one_dialect(&tree(&["postgres/sql/claim", "postgres/sql/retry", "sqlite/sql/claim"])).len(), 1);
        assert_eq!(in_one_dialect(&tree(&["sqlite/sql/claims"])).len(), 1);
    }

    #[test]
    fn a_statement_in_a_string_is_found() {
        let source = |text: &str| Source::new(&format!("{RUNTIME}store/a.rs"), text);
        for bad in ["q(\"SELECT 1\")", "q(r#\"\n  WITH a AS (\"#)", "q(\"\\\n  NOTIFY x\")"] {
            assert_eq!(in_strings(&[source(bad)]).len(), 1, "{bad}");
        }
        for good in ["q(\"select one\")", "// \"SELECT 1\"", "q(\"SELECTED\")", "q(\"a WITH b\")"] {
            assert_eq!(in_strings(&[source(good)]), [], "{good}");
        }
    }

    #[test]
    fn a_statement_without_a_head_is_found() {
        assert_eq!(without_head(&[Source::new("a.sql", "select 1;")]).len(), 1);
        assert_eq!(without_head(&[Source::new("a.sql", "-- One.\nselect 1;"), Source::new("a.rs", "")]), []);
    }

    #[test]
    fn an_unused_statement_is_found() {
        let files = |code: &str| [Source::new("a/src/b.rs", code), Source::new("a/sql/one.sql", "-- One.")];
        assert_eq!(unused(&files("include_str!(\n    \"../sql/one.sql\")")), []);
        assert_eq!(unused(&files("s!(two, one); include_str!(concat!(\"../sql/\", stringify!($name), \".sql\"))")), []);
        assert_eq!(unused(&files("s!(two); include_str!(concat!(\"../sql/\", stringify!($name), \".sql\"))")).len(), 1);
        assert_eq!(unused(&files("// include_str!(\"../sql/one.sql\")")).len(), 1);
        assert_eq!(unused(&files("\"../sql/one.sql\"")).len(), 1);
    }
}
