//! O-03: every machine of every crate that the binary mentions is linked into it, used or not.
//!
//! A crate that the binary never mentions registers nothing: the compiler does not link it, and nothing in this
//! project can know of it. When nothing at all is linked a worker refuses to boot and says which line mends it; the
//! suite's `boot_nothing` holds it to that.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use language::{cargo::cargo, skip};

const ALL: [&str; 4] = [
    "attic registry::attic::Attic registry::attic::AtticHands",
    "far registry_far::Far registry_far::FarHands",
    "far_attic registry_far::attic::FarAttic registry_far::FarHands",
    "near registry::Near registry::MainHands",
];

#[track_caller]
fn holds_all(binary: &Path) {
    assert_eq!(linked(binary), ALL, "{}", binary.display());
}

fn linked(binary: &Path) -> Vec<String> {
    let output = Command::new(binary).output().expect("the binary runs");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

/// Builds the binary anew, with these settings of the release profile.
fn release(settings: &[(&str, &str)]) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("linked");
    let mut build = cargo(&target);
    build.args(["build", "--release", "--package", "registry", "--bins"]);
    build.current_dir(env!("CARGO_MANIFEST_DIR"));
    for (name, value) in settings {
        build.env(format!("CARGO_PROFILE_RELEASE_{name}"), value);
    }
    let output = build.output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    target.join("release").join(format!("registry{}", std::env::consts::EXE_SUFFIX))
}

#[test]
fn dev_links_every_machine() {
    holds_all(Path::new(env!("CARGO_BIN_EXE_registry")));
}

#[test]
fn a_crate_that_is_not_mentioned_registers_nothing() {
    let linked = linked(Path::new(env!("CARGO_BIN_EXE_without-far")));
    assert_eq!(linked, ["attic without_far::attic::Attic without_far::attic::AtticHands"]);
}

// One test: the builds share a folder.
#[test]
fn release_links_every_machine() {
    holds_all(&release(&[]));
    if !skip::is_long() {
        return skip::skip("lto, codegen-units and strip: set GEN_DURABLE_LONG=1");
    }
    for settings in [
        [("LTO", "fat"), ("CODEGEN_UNITS", "1"), ("STRIP", "true")],
        [("LTO", "fat"), ("CODEGEN_UNITS", "16"), ("STRIP", "true")],
        [("LTO", "thin"), ("CODEGEN_UNITS", "16"), ("STRIP", "true")],
        [("LTO", "off"), ("CODEGEN_UNITS", "16"), ("OPT_LEVEL", "z")],
    ] {
        holds_all(&release(&settings));
    }
}
