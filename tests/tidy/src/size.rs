//! Files a person can hold in mind, that say nothing of one machine.

use crate::{Offence, Source};

const LINES_MAX: usize = 600;

/// No file is longer than one can read in a sitting.
pub fn too_long(sources: &[Source]) -> Vec<Offence> {
    let ours = sources.iter().filter(|source| !is_generated(source));
    let long = ours.map(|source| (source, source.text.lines().count())).filter(|&(_, lines)| lines > LINES_MAX);
    long.map(|(source, lines)| source.offence(0, format!("{lines} lines, more than {LINES_MAX}: divide it"))).collect()
}

fn is_generated(source: &Source) -> bool {
    source.is("stderr") || source.is("lock")
}

/// Paths of somebody's machine. Put together here, so that this file has none.
const MACHINE_PATHS: &[&str] = &[concat!("/ro", "ot/"), concat!("/wo", "rk/")];

/// No file names a path that only one machine has.
pub fn machine_paths(sources: &[Source]) -> Vec<Offence> {
    sources.iter().flat_map(machine_paths_of).collect()
}

fn machine_paths_of(source: &Source) -> Vec<Offence> {
    let found = MACHINE_PATHS.iter().flat_map(|path| source.text.match_indices(path));
    let absolute = found.filter(|&(at, _)| is_start(&source.text[..at]));
    absolute.map(|(at, path)| source.offence(at, format!("`{path}` is a path of one machine"))).collect()
}

/// A path does not go on from a name: `examples/…` is not absolute.
fn is_start(before: &str) -> bool {
    !before.ends_with(|c: char| c.is_alphanumeric() || "._-/}".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_file_is_found() {
        let lines = |count: usize, path: &str| [Source::new(path, &"line\n".repeat(count))];
        assert_eq!(too_long(&lines(601, "a.rs")).len(), 1);
        assert_eq!(too_long(&lines(600, "a.rs")), []);
        assert_eq!(too_long(&lines(601, "a.stderr")), []);
    }

    #[test]
    fn a_path_of_one_machine_is_found() {
        for path in MACHINE_PATHS {
            assert_eq!(machine_paths(&[Source::new("a.md", &format!("see `{path}x`"))]).len(), 1);
            assert_eq!(machine_paths(&[Source::new("a.md", &format!("see examples{path}x"))]), []);
        }
    }
}
