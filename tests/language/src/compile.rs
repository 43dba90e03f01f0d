//! Compiles one file against the libraries that the calling test was built with.

use std::{
    env, fs,
    path::Path,
    process::{Command, Output},
};

/// What this crate was compiled with. Beside them others of the same names may stand, with other features, and newer.
const LIBRARIES: &[(&str, &str)] = language_externs::externs!();

/// One file, and how it sees the facade.
#[derive(Debug)]
pub struct Case<'a> {
    /// The file.
    pub source: &'a Path,
    /// The folder of the manifest that the macros read.
    pub manifest: &'a Path,
    /// What the facade is called there.
    pub facade: &'a str,
    /// The edition.
    pub edition: &'a str,
}

impl Case<'_> {
    /// Checks a program.
    pub fn check(&self) -> Output {
        self.run("bin")
    }

    /// Checks a library.
    pub fn check_library(&self) -> Output {
        self.run("lib")
    }

    fn run(&self, kind: &str) -> Output {
        let stem = self.source.file_stem().unwrap_or_default().to_string_lossy();
        let out = env::temp_dir().join(format!("language-{}-{stem}.rmeta", std::process::id()));
        let mut command = rustc();
        command.args(["--crate-type", kind, "--emit", "metadata"]).arg("-o").arg(&out);
        let output = self.with(command).output().expect("rustc runs");
        let _ = fs::remove_file(out);
        output
    }

    /// Documents a library; what it says of the crate is under `out`.
    pub fn document(&self, out: &Path) -> Output {
        let mut command = Command::new(env::var_os("RUSTDOC").unwrap_or_else(|| "rustdoc".into()));
        command.args(["--crate-type", "lib"]).arg("-o").arg(out);
        self.with(command).output().expect("rustdoc runs")
    }

    /// The file and the libraries it may name.
    fn with(&self, mut command: Command) -> Command {
        let deps = env::current_exe().expect("this test").parent().expect("its folder").to_owned();
        command.args(["--color", "never", "--edition", self.edition]);
        command.arg("-L").arg(format!("dependency={}", deps.display()));
        let libraries =
            [(self.facade, "gen_durable"), ("serde", "serde"), ("serde_json", "serde_json"), ("jiff", "jiff")];
        for (name, library) in libraries {
            command.arg("--extern").arg(format!("{name}={}", file(library)));
        }
        command.env("CARGO_MANIFEST_DIR", self.manifest).arg(self.source);
        command
    }
}

/// The compiler that cargo uses.
pub fn rustc() -> Command {
    Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
}

fn file(library: &str) -> &'static str {
    let found = LIBRARIES.iter().find(|(name, _)| *name == library);
    found.map(|(_, file)| *file).unwrap_or_else(|| panic!("{library} was not built"))
}
