//! What does not compile, and what is said then: one file for each mistake in `tests/fail`.
//!
//! The first lines of a file say what must be seen: `//# a phrase of the error`, and `//# errors: 2` where one
//! mistake gives more than one error. On the pinned toolchain the whole text is compared too, with the `.stderr`
//! beside the file (`TRYBUILD=overwrite cargo test -p language --test fail` writes them anew).

use std::{
    fs,
    path::{Path, PathBuf},
};

use language::compile::{Case, rustc};

/// The toolchain that wrote the golden files.
const PINNED: &str = "rustc 1.95.";

fn is_pinned() -> bool {
    let out = rustc().arg("-V").output().expect("rustc runs");
    String::from_utf8_lossy(&out.stdout).starts_with(PINNED)
}

#[test]
fn the_whole_text_on_the_pinned_toolchain() {
    if is_pinned() {
        trybuild::TestCases::new().compile_fail("tests/fail/*.rs");
    } else {
        eprintln!("skipped: the golden files are of {PINNED}x");
    }
}

#[test]
fn the_key_phrase_and_the_number_of_errors_on_every_toolchain() {
    let wrong: Vec<String> = cases().iter().filter_map(|case| problem(case)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

fn cases() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fail");
    let files = fs::read_dir(dir).expect("the folder of the cases").map(|entry| entry.expect("a file").path());
    let mut cases: Vec<_> = files.filter(|path| path.extension().is_some_and(|e| e == "rs")).collect();
    cases.sort();
    cases
}

/// What is not as the head of the file says.
fn problem(case: &Path) -> Option<String> {
    let source = fs::read_to_string(case).expect("a readable case");
    let head: Vec<&str> = source.lines().map_while(|line| line.strip_prefix("//# ")).collect();
    let count = head.iter().find_map(|line| line.strip_prefix("errors: ")).map_or(1, |n| n.parse().expect("a number"));
    let said = compile(case);
    let errors = said.lines().filter(|line| is_error(line)).count();
    let missing = head.iter().find(|line| !line.starts_with("errors: ") && !said.contains(**line));
    let name = case.display();
    match missing {
        _ if head.is_empty() => Some(format!("{name} does not say `//# phrase`")),
        Some(phrase) => Some(format!("{name} does not say {phrase:?}:\n{said}")),
        None if errors != count => Some(format!("{name} gives {errors} errors, not {count}:\n{said}")),
        None => None,
    }
}

fn is_error(line: &str) -> bool {
    line.starts_with("error") && !line.starts_with("error: aborting") && !line.starts_with("error: could not compile")
}

fn compile(case: &Path) -> String {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Case { source: case, manifest, facade: "gen_durable", edition: "2024" }.check();
    assert!(!output.status.success(), "{} compiles", case.display());
    String::from_utf8_lossy(&output.stderr).into_owned()
}
