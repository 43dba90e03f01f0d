//! The three published crates are one release: the same version, and each names the others exactly.

use crate::{Offence, Source};

const PUBLISHED: &[&str] = &["gen-durable", "gen-durable-macros", "gen-durable-runtime"];

/// Inner crates are named only by ours, and only by this very version.
const PINNED: &[&str] = &["gen-durable-macros", "gen-durable-runtime"];

pub fn check(sources: &[Source]) -> Vec<Offence> {
    let Some(workspace) = sources.iter().find(|source| source.path == "Cargo.toml") else {
        return vec![Source::new("Cargo.toml", "").offence(0, "there is no workspace")];
    };
    let Some(version) = value(&workspace.text, "[workspace.package]", "version") else {
        return vec![workspace.offence(0, "[workspace.package] has no version")];
    };
    let mut offences = workspace_pins(workspace, &version);
    offences.extend(
        sources.iter().filter(|source| is_published(&source.path)).flat_map(|source| crate_pins(source, &version)),
    );
    offences
}

fn is_published(path: &str) -> bool {
    PUBLISHED.iter().any(|name| path.strip_suffix("/Cargo.toml") == Some(name))
}

/// `gen-durable-runtime = { path = "..", version = "=0.1.0" }`
fn workspace_pins(workspace: &Source, version: &str) -> Vec<Offence> {
    let unpinned = PINNED.iter().filter(|name| {
        let dependency = value(&workspace.text, "[workspace.dependencies]", name);
        !dependency.is_some_and(|dependency| dependency.contains(&exact(version)))
    });
    unpinned.map(|name| workspace.offence(0, format!("{name} is not pinned to {}", exact(version)))).collect()
}

/// A crate takes both its version and its siblings from the workspace, or says the same.
fn crate_pins(source: &Source, version: &str) -> Vec<Offence> {
    let own =
        value(&source.text, "[package]", "version.workspace").or_else(|| value(&source.text, "[package]", "version"));
    let same = own.is_some_and(|own| own == "true" || own == version);
    let wrong_version = (!same).then(|| source.offence(0, format!("its version is not the workspace's, {version}")));
    let siblings =
        ["[dependencies]", "[build-dependencies]"].into_iter().flat_map(|section| lines(&source.text, section));
    let loose = siblings.filter(|(key, value)| {
        let name = key.trim_end_matches(".workspace");
        PUBLISHED.contains(&name)
            && !key.ends_with(".workspace")
            && !value.contains("workspace = true")
            && !value.contains(&exact(version))
    });
    wrong_version
        .into_iter()
        .chain(loose.map(|(key, _)| source.offence(0, format!("{key} is not pinned to {}", exact(version)))))
        .collect()
}

fn exact(version: &str) -> String {
    format!("version = \"={version}\"")
}

fn value(manifest: &str, section: &str, key: &str) -> Option<String> {
    let (_, value) = lines(manifest, section).find(|(found, _)| *found == key)?;
    Some(value.trim_matches('"').to_owned())
}

/// The `key = value` lines of a section.
fn lines<'a>(manifest: &'a str, section: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let body = manifest.lines().skip_while(move |line| line.trim() != section).skip(1);
    let body = body.take_while(|line| !line.starts_with('['));
    body.filter_map(|line| line.split_once('=')).map(|(key, value)| (key.trim(), value.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = "[workspace.package]\nversion = \"1.2.3\"\n[workspace.dependencies]\n\
        gen-durable-macros = { path = \"m\", version = \"=1.2.3\" }\n\
        gen-durable-runtime = { path = \"r\", version = \"=1.2.3\" }\n";
    const FACADE: &str = "[package]\nversion.workspace = true\n[dependencies]\n\
        gen-durable-macros.workspace = true\ngen-durable-runtime = { workspace = true, optional = true }\n";

    fn offences(root: &str, facade: &str) -> usize {
        check(&[Source::new("Cargo.toml", root), Source::new("gen-durable/Cargo.toml", facade)]).len()
    }

    #[test]
    fn exact_pins_pass() {
        assert_eq!(offences(ROOT, FACADE), 0);
    }

    #[test]
    fn a_loose_pin_or_another_version_is_found() {
        assert_eq!(offences(&ROOT.replacen("\"=1.2.3\"", "\"1.2.3\"", 1), FACADE), 1);
        assert_eq!(offences(&ROOT.replacen("\"1.2.3\"", "\"1.2.4\"", 1), FACADE), 2);
        assert_eq!(offences(ROOT, &FACADE.replace("version.workspace = true", "version = \"1.2.2\"")), 1);
        let loose = FACADE.replace("gen-durable-macros.workspace = true", "gen-durable-macros = { path = \"../m\" }");
        assert_eq!(offences(ROOT, &loose), 1);
        assert_eq!(offences("", FACADE), 1);
    }
}
