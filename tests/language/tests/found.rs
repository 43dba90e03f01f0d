//! The facade under another name, and through another crate.

use std::path::Path;

use language::compile::Case;

fn compiles(name: &str) {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    let source = manifest.join(format!("{name}.rs"));
    for edition in ["2021", "2024"] {
        let output = Case { source: &source, manifest: &manifest, facade: "durable", edition }.check_library();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.is_empty(), "edition {edition}:\n{said}");
    }
}

#[test]
fn a_renamed_dependency_is_found_by_itself() {
    compiles("renamed");
}

#[test]
fn a_reexported_one_is_named_by_crate() {
    compiles("reexported");
}
