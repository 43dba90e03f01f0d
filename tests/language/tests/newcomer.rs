//! What the README promises a newcomer: its machine compiles in a fresh project, and the mistake that it shows is
//! refused with the words that it shows.
//!
//! Without the default features first, which needs no database library; the whole program with `GEN_DURABLE_LONG=1`.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Output,
};

use language::{
    cargo::cargo,
    skip::{is_long, skip},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

/// `None`, and said so, as long as there is no README.
fn readme() -> Option<String> {
    let text = fs::read_to_string(root().join("README.md"));
    if text.is_err() {
        skip("there is no README.md yet");
    }
    text.ok()
}

/// The code block between `<!-- name -->` and `<!-- /name -->`.
fn marked(readme: &str, name: &str) -> String {
    let (open, close) = (format!("<!-- {name} -->"), format!("<!-- /{name} -->"));
    let inside = readme.split_once(&open).and_then(|(_, rest)| rest.split_once(&close)).map(|(inside, _)| inside);
    let inside = inside.unwrap_or_else(|| panic!("README.md has nothing between `{open}` and `{close}`"));
    let code = inside.split_once("```").and_then(|(_, rest)| rest.split_once('\n')).map(|(_, code)| code);
    let code = code.and_then(|code| code.split_once("```")).map(|(code, _)| code);
    code.unwrap_or_else(|| panic!("README.md has no code block after `{open}`")).to_owned()
}

/// The README's `[dependencies]`, with the facade where it is.
fn dependencies(readme: &str, facade: &str) -> String {
    let begin = readme.find("[dependencies]").expect("README.md says which dependencies the program has");
    let block = readme[begin..].split("```").next().unwrap_or_default();
    let (before, rest) = block.split_once("gen-durable = ").expect("README.md depends on gen-durable");
    let after = rest.split_once('\n').map_or("", |(_, after)| after);
    format!("{before}gen-durable = {facade}\n{after}")
}

/// A fresh project, and what becomes of its `main.rs`.
struct Project {
    dir: PathBuf,
    target: PathBuf,
}

impl Project {
    fn new(name: &str, dependencies: &str) -> Self {
        let dir = env::temp_dir().join(format!("newcomer-{}-{name}", std::process::id()));
        fs::create_dir_all(dir.join("src")).expect("a folder for the project");
        let package = "[package]\nname = \"newcomer\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n";
        fs::write(dir.join("Cargo.toml"), format!("{package}{dependencies}\n[workspace]\n")).expect("a manifest");
        // The same versions as here: nothing is fetched.
        fs::copy(root().join("Cargo.lock"), dir.join("Cargo.lock")).expect("the lock file");
        Self { dir, target: Path::new(env!("CARGO_TARGET_TMPDIR")).join(name) }
    }

    fn check(&self, main: &str) -> Output {
        fs::write(self.dir.join("src/main.rs"), main).expect("a main.rs");
        cargo(&self.target).args(["check", "--quiet"]).current_dir(&self.dir).output().expect("cargo runs")
    }

    fn compiles(&self, main: &str) {
        let output = self.check(main);
        assert!(output.status.success(), "{main}\n{}", String::from_utf8_lossy(&output.stderr));
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// The machine with the fault that the README's error is about: the step that lacks an edge, and where to.
fn with_the_fault(machine: &str, error: &str) -> String {
    let words: Vec<&str> = error.lines().next().unwrap_or_default().split('`').collect();
    let [_, step, " has no transition to ", target, ..] = words.as_slice() else {
        panic!("README.md shows another error than a missing transition: {error}");
    };
    let variant = machine.find(&format!(" {step} {{")).unwrap_or_else(|| panic!("the machine has no step `{step}`"));
    let next = machine[..variant].rfind("next(").expect("the step has a `next(..)`") + "next(".len();
    let length = machine[next..].find(')').expect("it is closed");
    let targets: Vec<&str> = machine[next..next + length].split(", ").collect();
    assert!(targets.contains(target) && targets.len() > 1, "`{target}` is one of several in {targets:?}");
    let left: Vec<&str> = targets.into_iter().filter(|name| name != target).collect();
    format!("{}{}{}", &machine[..next], left.join(", "), &machine[next + length..])
}

/// Lines without what differs by place: spaces, and the folders of a path.
fn lines(text: &str) -> Vec<String> {
    let one = |line: &str| line.split_whitespace().map(without_folders).collect::<Vec<_>>().join(" ");
    text.lines().map(one).filter(|line| !line.is_empty()).collect()
}

fn without_folders(word: &str) -> &str {
    if word.contains(".rs:") { word.rsplit(['/', '\\']).next().unwrap_or(word) } else { word }
}

/// The README's error is what is said; it may leave out the help at the end.
fn is_said(project: &Project, main: &str, error: &str) {
    let output = project.check(&with_the_fault(main, error));
    assert!(!output.status.success(), "it compiles without the edge");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let begin = said.find("error").expect("an error");
    let (said, shown) = (lines(&said[begin..]), lines(error));
    let errors = said.iter().filter(|line| line.starts_with("error") && !line.contains("could not compile")).count();
    assert_eq!((&said[..shown.len().min(said.len())], errors), (shown.as_slice(), 1), "{}", said.join("\n"));
}

#[test]
fn the_machine_of_the_readme_compiles_and_its_mistake_is_refused() {
    let Some(readme) = readme() else { return };
    let (machine, error) = (marked(&readme, "machine"), marked(&readme, "error"));
    let facade = root().join("gen-durable");
    let lean = format!("{{ path = {facade:?}, default-features = false, features = [\"client\"] }}");
    let project = Project::new("newcomer", &dependencies(&readme, &lean));
    // `worker!` is the program: it needs the engine.
    let is_program = |line: &&str| line.starts_with("gen_durable::worker!");
    let lean: Vec<&str> = machine.lines().map(|line| if is_program(&line) { "fn main() {}" } else { line }).collect();
    let lean = lean.join("\n");
    assert_eq!(lean.matches("fn main() {}").count(), 1, "the machine ends with one `gen_durable::worker!(..);`");
    project.compiles(&format!("{lean}\n{}", marked(&readme, "schedules")));
    project.compiles(&lean);
    is_said(&project, &lean, &error);
}

#[test]
fn the_whole_program_of_the_readme_compiles_and_its_mistake_is_refused() {
    let Some(readme) = readme() else { return };
    if !is_long() {
        return skip("the program with its engine: set GEN_DURABLE_LONG=1");
    }
    let (machine, error) = (marked(&readme, "machine"), marked(&readme, "error"));
    let facade = root().join("gen-durable");
    let project = Project::new("newcomer-whole", &dependencies(&readme, &format!("{{ path = {facade:?} }}")));
    project.compiles(&machine);
    is_said(&project, &machine, &error);
}
