//! What became of a snapshot, as text.

use std::time::Duration;

use crate::machine::Summary;

/// Unreadable files that are named; `show` has them all.
const NAMED: usize = 20;

/// A line of figures, and one for each file that is not in the manifest.
pub fn report(summary: &Summary, took: Duration) -> String {
    let Summary { manifest, files, bytes, unreadable } = summary;
    let mut text = format!(
        "\n{:>10}  {:>15}  {:>10}  {:>8}\n{files:>10}  {bytes:>15}  {:>10}  {:>8.1}\n\n{manifest}\n",
        "files",
        "bytes",
        "unreadable",
        "seconds",
        unreadable.len(),
        took.as_secs_f64(),
    );
    for one in unreadable.iter().take(NAMED) {
        text += &format!("not in it: {}: {}\n", one.file, one.why);
    }
    if let Some(more @ 1..) = unreadable.len().checked_sub(NAMED) {
        text += &format!("not in it: {more} more\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{digest::Unreadable, name::Name};

    #[test]
    fn it_names_what_is_missing() {
        let name = |path: &str| Name::of(Path::new(path));
        let one = Unreadable { file: name("a\nb"), why: "gone".into() };
        let unreadable = vec![one; NAMED + 2];
        let summary = Summary { manifest: name("/m"), files: 20_000, bytes: 123_456_789, unreadable };
        let text = report(&summary, Duration::from_millis(3_210));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "     files            bytes  unreadable   seconds");
        assert_eq!(lines[2], "     20000        123456789          22       3.2");
        assert_eq!((lines[5], lines[25]), ("not in it: a%0Ab: gone", "not in it: 2 more"));
    }
}
