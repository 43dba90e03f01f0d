//! Above the stores nothing names a dialect; above the facade nothing names the crates below it.

use crate::floors::RUNTIME;
use crate::rust::{self, Rust};
use crate::{Offence, Source};

const DIALECTS: &[&str] = &["postgres", "sqlite", "sqlx"];

/// The crates below the facade, as code and as manifests write them.
const INNER: &[&str] = &["gen_durable_runtime", "gen_durable_macros", "gen-durable-runtime", "gen-durable-macros"];

/// The modules of the runtime that every store serves.
const ABOVE: &[&str] = &["engine/", "engine.rs", "client/", "client.rs"];

/// Files that may, and why.
const EXCEPTIONS: &[(&str, &str)] =
    &[("client/transaction", "the caller brings a transaction of their own, and its type is the dialect's")];

/// The engine and the client never name a dialect, except as the feature that brings a module in.
pub fn named_above(sources: &[Source]) -> Vec<Offence> {
    let above = sources.iter().filter(|source| source.is("rs") && is_above(&source.path));
    above.flat_map(|source| mentions(source, DIALECTS, "a dialect above the stores")).collect()
}

fn is_above(path: &str) -> bool {
    let Some(path) = path.strip_prefix(RUNTIME) else { return false };
    ABOVE.iter().any(|above| path.starts_with(above)) && !EXCEPTIONS.iter().any(|(file, _)| path.starts_with(file))
}

/// Users name only the facade, so the examples do.
pub fn below_the_facade(sources: &[Source]) -> Vec<Offence> {
    let examples = sources.iter().filter(|source| source.path.starts_with("examples/"));
    let readable = examples.filter(|source| source.is("rs") || source.is("toml") || source.is("md"));
    let named = |source: &Source| -> Vec<Offence> {
        let found = words_of(&source.text, INNER);
        found.map(|(at, name)| source.offence(at, format!("`{name}`: an example names only the facade"))).collect()
    };
    readable.flat_map(named).collect()
}

fn mentions(source: &Source, names: &[&str], rule: &str) -> Vec<Offence> {
    let code = Rust::read(&source.text).code;
    let is_condition = |at: usize| {
        let start = code[..at].rfind('\n').map_or(0, |newline| newline + 1);
        code[start..].trim_start().starts_with("#[cfg(")
    };
    let found = words_of(&code, names).filter(|&(at, _)| !is_condition(at));
    found.map(|(at, name)| source.offence(at, format!("`{name}`: {rule}"))).collect()
}

fn words_of<'a>(text: &'a str, names: &'a [&'a str]) -> impl Iterator<Item = (usize, &'a str)> {
    names.iter().flat_map(move |name| rust::words(text, name).map(move |at| (at, *name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dialect_above_the_stores_is_found() {
        let source = |path: &str, text: &str| [Source::new(&format!("{RUNTIME}{path}"), text)];
        assert_eq!(named_above(&source("engine/a.rs", "use sqlx::Row;")).len(), 1);
        assert_eq!(named_above(&source("client/a.rs", "f(\"postgres\")")).len(), 1);
        assert_eq!(named_above(&source("client/mod.rs", "#[cfg(feature = \"postgres\")]\nmod transaction;")), []);
        let any = "#[cfg(any(feature = \"postgres\", feature = \"sqlite\"))]\nmod transaction;";
        assert_eq!(named_above(&source("client/mod.rs", any)), []);
        assert_eq!(named_above(&source("client.rs", "use crate::store::sqlite::X;")).len(), 1);
        assert_eq!(named_above(&source("engine/a.rs", "// as postgres does\nfn f() {}")), []);
        assert_eq!(named_above(&source("client/transaction.rs", "use sqlx::Row;")), []);
        assert_eq!(named_above(&source("store/postgres/a.rs", "use sqlx::Row;")), []);
    }

    #[test]
    fn an_example_that_names_an_inner_crate_is_found() {
        let source = |text: &str| [Source::new("examples/shop/src/main.rs", text)];
        assert_eq!(below_the_facade(&source("use gen_durable_runtime::X;")).len(), 1);
        assert_eq!(below_the_facade(&source("use gen_durable::X;")), []);
    }
}
