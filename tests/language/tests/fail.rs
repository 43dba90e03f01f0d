//! What does not compile, and what is said then: one file for each mistake, by theme, in `tests/fail`.
//!
//! The first lines of a file say what must be seen: `//# a phrase of the error`, and `//# errors: 2` where one
//! mistake gives more than one error. On the pinned toolchain the whole text is compared too, with the `.stderr`
//! beside the file (`TRYBUILD=overwrite cargo test -p language --test fail` writes them anew).

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
};

use language::{
    compile::{Case, rustc},
    skip::skip,
};

/// The toolchain that wrote the golden files. Another one words its errors otherwise.
const PINNED: &str = "rustc 1.95.";
/// What a test pretends the toolchain to be.
const PRETENDED: &str = "LANGUAGE_TOOLCHAIN";

fn toolchain() -> String {
    let asked = || {
        let out = rustc().arg("-V").output().expect("rustc runs");
        String::from_utf8_lossy(&out.stdout).trim().to_owned()
    };
    env::var(PRETENDED).unwrap_or_else(|_| asked())
}

#[test]
fn the_whole_text_on_the_pinned_toolchain() {
    let toolchain = toolchain();
    if toolchain.starts_with(PINNED) {
        trybuild::TestCases::new().compile_fail("tests/fail/*/*.rs");
    } else {
        skip(&format!("the whole text is that of {PINNED}x, and this is {toolchain}"));
    }
}

#[test]
fn another_toolchain_is_held_to_the_phrases_and_counts_alone() {
    let this = env::current_exe().expect("this test");
    let mut whole = Command::new(this);
    whole.args(["--exact", "the_whole_text_on_the_pinned_toolchain", "--nocapture"]);
    let output = whole.env(PRETENDED, "rustc 1.999.0").output().expect("this test runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("SKIPPED the_whole_text"), "{said}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"), "it ran");
    // What is said otherwise, and stands in no golden file, is no fault as long as the phrase is there.
    let reworded = "error[E0277]: in other words, step `A` has no transition to `B`\nerror: aborting due to 1 error\n";
    assert_eq!(fault("//# has no transition to `B`\nfn main() {}", reworded), None);
    assert!(fault("//# has no transition to `C`", reworded).is_some(), "the phrase is missing");
    assert!(fault("//# errors: 2\n//# has no transition to `B`", reworded).is_some(), "one error is missing");
    assert!(fault("fn main() {}", reworded).is_some(), "the case says nothing");
}

#[test]
fn no_golden_text_shows_the_standard_librarys_sources() {
    let shows = |case: &PathBuf| {
        let golden = fs::read_to_string(case.with_extension("stderr")).unwrap_or_default();
        golden.contains("$RUST") || golden.contains("/rustc/") || golden.contains("/rustlib/src/")
    };
    // They are shown where the component `rust-src` is installed, and nowhere else.
    assert_eq!(cases().into_iter().filter(shows).collect::<Vec<_>>(), Vec::<PathBuf>::new());
}

#[test]
fn the_key_phrase_and_the_number_of_errors_on_every_toolchain() {
    let (cases, threads) = (cases(), thread::available_parallelism().map_or(1, usize::from));
    let part = cases.len().div_ceil(threads).max(1);
    let wrong: Vec<String> = thread::scope(|scope| {
        let check = |cases: &[PathBuf]| cases.iter().filter_map(|case| problem(case)).collect::<Vec<_>>();
        let checks: Vec<_> = cases.chunks(part).map(|cases| scope.spawn(move || check(cases))).collect();
        checks.into_iter().flat_map(|check| check.join().expect("a check that ends")).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

fn cases() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fail");
    let mut cases: Vec<_> = entries(&dir).into_iter().flat_map(|theme| entries(&theme)).collect();
    cases.retain(|path| path.extension().is_some_and(|e| e == "rs"));
    cases.sort();
    cases
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    fs::read_dir(dir).expect("a folder of cases").map(|entry| entry.expect("an entry").path()).collect()
}

/// What is not as the head of the file says.
fn problem(case: &Path) -> Option<String> {
    let source = fs::read_to_string(case).expect("a readable case");
    fault(&source, &compile(case)).map(|fault| format!("{} {fault}", case.display()))
}

fn fault(source: &str, said: &str) -> Option<String> {
    let head: Vec<&str> = source.lines().map_while(|line| line.strip_prefix("//# ")).collect();
    let count = head.iter().find_map(|line| line.strip_prefix("errors: ")).map_or(1, |n| n.parse().expect("a number"));
    let errors = said.lines().filter(|line| is_error(line)).count();
    let missing = head.iter().find(|line| !line.starts_with("errors: ") && !said.contains(**line));
    match missing {
        _ if head.is_empty() => Some("does not say `//# phrase`".to_owned()),
        Some(phrase) => Some(format!("does not say {phrase:?}:\n{said}")),
        None if errors != count => Some(format!("gives {errors} errors, not {count}:\n{said}")),
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
