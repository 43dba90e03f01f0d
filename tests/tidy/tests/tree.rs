//! The rules, on the tree as it is.

use std::path::Path;

use tidy::{Offence, Source, dialects, floors, named, pins, size, sql, tree, unwraps};

fn sources() -> Vec<Source> {
    let sources = tree::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    assert!(sources.iter().any(|source| source.path == "gen-durable-runtime/src/lib.rs"), "this is not the tree");
    sources
}

fn assert_none(offences: Vec<Offence>) {
    let lines: Vec<_> = offences.iter().map(Offence::to_string).collect();
    assert!(lines.is_empty(), "\n{}\n", lines.join("\n"));
}

#[test]
fn a_floor_names_only_itself_and_lower_floors() {
    assert_none(floors::check(&sources()));
}

#[test]
fn sql_stands_only_in_sql_files() {
    assert_none(sql::in_strings(&sources()));
}

#[test]
fn every_statement_has_a_head() {
    assert_none(sql::without_head(&sources()));
}

#[test]
fn every_statement_is_used() {
    assert_none(sql::unused(&sources()));
}

#[test]
fn both_dialects_have_the_same_statements() {
    assert_none(sql::in_one_dialect(&sources()));
}

#[test]
fn nothing_above_the_stores_names_a_dialect() {
    assert_none(dialects::named_above(&sources()));
}

#[test]
fn examples_name_only_the_facade() {
    assert_none(dialects::below_the_facade(&sources()));
}

#[test]
fn published_crates_panic_only_with_a_reason() {
    assert_none(unwraps::check(&sources()));
}

#[test]
fn no_file_is_too_long() {
    assert_none(size::too_long(&sources()));
}

#[test]
fn no_file_names_a_path_of_one_machine() {
    assert_none(size::machine_paths(&sources()));
}

#[test]
fn the_published_crates_pin_each_other_exactly() {
    assert_none(pins::check(&sources()));
}

#[test]
fn the_tests_of_the_bug_log_are_there() {
    assert_none(named::missing(&sources()));
}
