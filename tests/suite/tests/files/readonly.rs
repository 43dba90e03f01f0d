//! Files and directories that this user may not write.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, process::Stdio, time::Duration};

use gen_durable::start;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    process::{Child, Command},
};

use super::{
    machines::Run,
    mounts::{mount, on_a_disk},
    place::{self, Place},
};

/// Nobody in particular: modes do not bind root.
const NOBODY: u32 = 65_534;

fn is_root() -> bool {
    // SAFETY: it only answers.
    unsafe { libc::geteuid() == 0 }
}

/// A process of an unprivileged user; `None` where that user cannot reach the program.
fn unprivileged(place: &Place, environment: &[(&str, &str)]) -> Option<Child> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_suite-worker"));
    command.env("SUITE_URL", place.url()).env("SUITE_EFFECTS_URL", "sqlite://nowhere.db").kill_on_drop(true);
    command.envs(environment.iter().copied()).env("SUITE_CALL_MS", "2000").current_dir("/");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command.spawn().ok()
}

/// How a worker that cannot begin ends.
async fn says(place: &Place) -> Option<String> {
    let worker = unprivileged(place, &[])?;
    let ended = tokio::time::timeout(Duration::from_secs(20), worker.wait_with_output()).await.expect("it ends");
    let ended = ended.expect("our child");
    assert!(!ended.status.success());
    Some(String::from_utf8_lossy(&ended.stderr).into_owned())
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("our file");
}

fn not_written(place: &Place) -> String {
    format!("this user cannot write the database file {}, its directory", place.file().display())
}

fn out_of_reach(place: &Place) -> String {
    let file = place.file();
    format!("{} cannot be opened: it, or what stands beside it, is out of reach of this user", file.display())
}

fn unreachable() {
    place::skip("an unprivileged user cannot reach the program");
}

/// The same process goes on by itself once it may.
#[tokio::test]
async fn a_file_that_cannot_be_written_is_said_and_written_once_it_may_be() {
    let place = Place::migrated().await;
    mode(place.dir(), 0o777);
    mode(&place.file(), 0o444);
    let Some(said) = says(&place).await else { return unreachable() };
    assert!(said.contains(&not_written(&place)), "{said}");

    let mut starts = unprivileged(&place, &[("SUITE_STARTS", "1")]).expect("as before");
    let mut tell = starts.stdin.take().expect("piped");
    let mut answers = BufReader::new(starts.stdout.take().expect("piped")).lines();
    let mut next = async || answers.next_line().await.expect("reads").expect("a line");
    assert_eq!(next().await, "ready");
    tell.write_all(b"1\n").await.expect("it listens");
    assert_eq!(next().await, "0 0 1 ", "an error");
    // What SQLite left beside it has its mode.
    for end in ["", "-wal", "-shm"] {
        let path = place.dir().join(format!("gen-durable.db{end}"));
        let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o666));
    }
    tell.write_all(b"2\n").await.expect("it listens");
    assert_eq!(next().await, "1 0 0 1", "started");
    drop(tell);
    starts.wait().await.expect("ends");
    assert_eq!(place.count("SELECT count(*) FROM gen_durable").await, 1);
    place.is_sound().await;
}

/// The log of a file stands beside it.
#[tokio::test]
async fn a_directory_that_cannot_be_written_is_said() {
    let place = Place::migrated().await;
    mode(&place.file(), 0o666);
    mode(place.dir(), 0o555);
    let Some(said) = says(&place).await else { return unreachable() };
    assert!(said.contains(&not_written(&place)), "{said}");
    mode(place.dir(), 0o755);
    place.is_sound().await;
}

/// Not taken for a file that is not there.
#[tokio::test]
async fn a_directory_that_cannot_be_entered_is_said() {
    let place = Place::migrated().await;
    mode(place.dir(), 0o000);
    let Some(said) = says(&place).await else { return unreachable() };
    assert!(said.contains(&out_of_reach(&place)), "{said}");
    mode(place.dir(), 0o755);
}

/// Not even root writes there.
#[tokio::test]
async fn a_disk_that_cannot_be_written_is_said_and_written_once_it_may_be() {
    let test = "readonly::a_disk_that_cannot_be_written_is_said_and_written_once_it_may_be";
    let Some(place) = on_a_disk("size=8m", test).await else { return };
    mount(place.dir(), "remount,ro");
    let mut worker = place.worker().launch();
    assert!(!worker.exit(Duration::from_secs(20)).await.success());
    assert_eq!(worker.logged(&out_of_reach(&place)) + worker.logged(&not_written(&place)), 1, "{:?}", worker.log());
    let client = place.client();
    let error = client.start(start(Run { millis: 0, steps: 1 })).await.expect_err("read only");
    let text = place.file().display().to_string();
    assert!(error.to_string().contains(&text) && error.is_transient(), "{error}");
    mount(place.dir(), "remount,rw");
    client.start(start(Run { millis: 0, steps: 1 })).await.expect("the same client goes on");
    place.is_sound().await;
}
