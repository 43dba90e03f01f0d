//! Snapshots as a person makes them: the real binary, on a real database, killed at any moment; the same on both stores.

mod support;

use std::{
    fs,
    os::unix::fs::symlink,
    process::{Command, Stdio},
    time::Duration,
};

use support::{Place, accepted, bytes, lock, names, to_its_end, unlock};

/// Each promise on both stores, from one body.
macro_rules! on_both_stores {
    ($($promise:ident),* $(,)?) => {
        mod sqlite { $(#[test] fn $promise() { super::$promise(super::Place::sqlite()); })* }
        mod postgres { $(#[test] fn $promise() { super::$promise(super::Place::postgres()); })* }
    };
}

on_both_stores![
    a_tree_becomes_a_manifest_that_sha256sum_accepts,
    what_the_program_writes_is_not_of_the_tree,
    odd_names_are_written_as_sha256sum_writes_them,
    an_unreadable_file_is_said_and_the_others_count,
    a_snapshot_begun_in_another_directory_is_ended_and_one_made_here,
    a_directory_that_is_not_there_is_refused,
    a_manifest_that_cannot_be_written_is_said,
    a_killed_snapshot_goes_on_and_has_a_line_for_every_file,
];

fn a_tree_becomes_a_manifest_that_sha256sum_accepts(place: Place) {
    for file in ["tree/b/2", "tree/b/1", "tree/b.txt", "tree/a", "tree/empty/no"] {
        place.file(file, file);
    }
    fs::remove_file(place.directory.join("tree/empty/no")).expect("it was made");
    place.file("elsewhere", "not of the tree");
    symlink(place.directory.join("elsewhere"), place.directory.join("tree/link")).expect("a link");
    let (table, said) = to_its_end(place.archive(&["snapshot", "tree"]));
    let first = place.accepted();
    assert_eq!(names(&first), ["./tree/a", "./tree/b/1", "./tree/b/2", "./tree/b.txt"]);
    assert!(table.contains("\n         4               32           0 "), "{table}");
    assert!(said.contains("4 of 4 files hashed"), "{said}");

    place.file("tree/c", "new");
    let (_, said) = to_its_end(place.archive(&["snapshot", "./tree/../tree"]));
    assert!(!said.contains("begun before"), "{said}");
    assert_eq!(place.accepted()[..4], first);
    assert_eq!(place.accepted().len(), 5);
}

fn what_the_program_writes_is_not_of_the_tree(place: Place) {
    place.file("file", "of the tree");
    place.file("below/manifest.sha256", "of the tree");
    place.file(".manifest.sha256.1.2", "left by a killed run");
    for _ in 0..2 {
        to_its_end(place.archive(&["snapshot", "."]));
        assert_eq!(names(&place.accepted()), ["./below/manifest.sha256", "./file"]);
    }
    // A directory with nothing in it: an empty manifest, which `sha256sum -c` would not take.
    fs::create_dir(place.directory.join("empty")).expect("a directory");
    to_its_end(place.archive(&["snapshot", "empty"]));
    assert_eq!(fs::read(place.directory.join("manifest.sha256")).expect("a manifest"), b"");
}

fn odd_names_are_written_as_sha256sum_writes_them(place: Place) {
    let odd: &[&[u8]] = &[
        b"-",
        b"-c",
        b" first",
        b"last ",
        b"*",
        b"100%",
        b"%41",
        b"a\nb",
        b"a\\nb",
        b"\\",
        b"end\r",
        b"\x1b[2J",
        b"\xff\xfe",
        "ä".as_bytes(),
    ];
    for name in odd {
        place.file(bytes(name), name);
    }
    to_its_end(place.archive(&["snapshot", "."]));
    let mut ours = place.accepted();
    assert_eq!(ours.len(), odd.len());
    let theirs = Command::new("sha256sum")
        .args(odd.iter().map(|name| bytes(&[b"./", *name].concat()).to_owned()))
        .current_dir(&place.directory)
        .output()
        .expect("sha256sum");
    let mut theirs: Vec<_> = theirs.stdout.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    ours.sort();
    theirs.sort();
    assert_eq!(ours, theirs);
}

fn an_unreadable_file_is_said_and_the_others_count(place: Place) {
    place.file("tree/file", "readable");
    lock(&place.file("tree/locked", "nobody reads it"));
    place.file("tree/closed/file", "nobody finds it");
    lock(&place.directory.join("tree/closed"));
    let (table, _) = to_its_end(place.unprivileged(&["snapshot", "tree"]));
    unlock(&place.directory.join("tree/closed"));
    assert_eq!(names(&place.accepted()), ["./tree/file"]);
    assert!(table.contains("\n         1                8           2 "), "{table}");
    for missing in ["closed", "locked"] {
        assert!(table.contains(&format!("not in it: {missing}: Permission denied")), "{table}");
    }
}

fn a_snapshot_begun_in_another_directory_is_ended_and_one_made_here(place: Place) {
    place.file("tree/file", "a file");
    fs::create_dir(place.directory.join("here")).expect("a directory");
    let below = |name: &str| place.directory.join(name).display().to_string();
    let begun = format!(r#"{{"directory": "{}", "manifest": "{}"}}"#, below("tree"), below("manifest.sha256"));
    to_its_end(place.archive(&["--database", &place.url(), "migrate"]));
    to_its_end(place.archive(&["--database", &place.url(), "start", "archive", &begun]));
    let mut here = place.archive(&["--database", &place.url(), "snapshot", "../tree"]);
    here.current_dir(below("here"));
    let (_, said) = to_its_end(here);
    assert!(said.contains("begun before: it goes on"), "{said}");
    assert_eq!(names(&place.accepted()), ["./tree/file"]);
    assert_eq!(names(&accepted(&place.directory.join("here"))), [below("tree/file")]);
}

fn a_directory_that_is_not_there_is_refused(place: Place) {
    for args in [&["snapshot", "nowhere"][..], &["snapshot"], &["snapshot", "a", "b"]] {
        let refused = place.archive(args).output().expect("the binary was built");
        let said = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success(), "{said}");
        assert!(said.contains("nowhere: No such file") || said.contains("usage: archive snapshot DIRECTORY"), "{said}");
    }
}

fn a_manifest_that_cannot_be_written_is_said(place: Place) {
    place.file("tree/file", "a file");
    let taken = place.file("manifest.sha256/file", "a directory has its name");
    let refused = place.archive(&["snapshot", "tree"]).output().expect("the binary was built");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success(), "{said}");
    assert!(said.contains("failed: ") && said.contains("/manifest.sha256: Is a directory"), "{said}");
    fs::remove_dir_all(taken.parent().expect("a directory")).expect("ours");
    to_its_end(place.archive(&["snapshot", "tree"]));
    assert_eq!(names(&place.accepted()), ["./tree/file"]);
    assert_eq!(parts(&place), 0);
}

/// Killed again and again, it ends as if nothing had been.
fn a_killed_snapshot_goes_on_and_has_a_line_for_every_file(place: Place) {
    // With no more time than the work takes, so that kills meet the listing, the hashing and the writing.
    let long = std::env::var_os("GEN_DURABLE_LONG").is_some_and(|value| value == "1");
    let (files, most_ms) = if long { (20_000, 5_000) } else { (2_000, 700) };
    for file in 0..files {
        place.file(format!("tree/{}/{}/{file}", file % 7, file % 31), vec![b'x'; file * 37 % 20_000]);
    }
    let mut killed = Vec::new();
    for runs in 1.. {
        killed.extend(killed_after(&place, rand::random_range(20..most_ms)));
        // Whatever the kill met: the one of the last snapshot that ended, or none yet.
        assert!(!place.directory.join("manifest.sha256").exists() || place.accepted().len() == files);
        if killed.len() == 10 {
            eprintln!("{files} files: {runs} runs, ten of them killed");
            break;
        }
    }
    assert!(killed.iter().any(|said| said.contains("begun before")), "no kill met one at work: {killed:?}");
    let (table, _) = to_its_end(place.archive(&["snapshot", "tree"]));
    assert_eq!(place.accepted().len(), files, "{table}");
    assert!(table.contains(&format!("\n{files:>10}  ")), "{table}");
    let (failed, _) = to_its_end(place.archive(&["--database", &place.url(), "list", "--status", "failed", "--json"]));
    assert_eq!((failed.trim(), parts(&place)), ("", 0));
}

/// What a snapshot said until it was killed; nothing of one that had ended before.
fn killed_after(place: &Place, ms: u64) -> Option<String> {
    let log = place.file("log", "");
    let said = fs::File::create(&log).expect("a writable directory");
    let mut running = place.archive(&["snapshot", "tree"]).stdout(Stdio::null()).stderr(said).spawn().expect("built");
    std::thread::sleep(Duration::from_millis(ms));
    // SIGKILL: nothing of it runs any more. One that had ended did so well.
    running.kill().expect("our child");
    let status = running.wait().expect("our child");
    assert!(status.success() || status.code().is_none(), "{status}");
    status.code().is_none().then(|| fs::read_to_string(log).expect("text"))
}

/// Manifests that nobody has ended.
fn parts(place: &Place) -> usize {
    let files = fs::read_dir(&place.directory).expect("ours").map(|file| file.expect("ours").file_name());
    files.filter(|name| name.to_string_lossy().starts_with(".manifest.sha256.")).count()
}
