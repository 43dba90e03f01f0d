//! Real processes on a server root of the test's own, so that nothing else adopts its servers.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

pub(crate) const WITH_POSTGRES: &str = env!("CARGO_BIN_EXE_with-postgres");

/// Prints the database's URL and stays.
const STAY: &str = r#"echo "$DATABASE_URL"; exec sleep 60"#;

/// A server root, removed at the end.
pub(crate) struct Root(pub(crate) PathBuf);

impl Root {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        Self(PathBuf::from(format!("/var/tmp/local-pg-test-{}-{count}", std::process::id())))
    }

    /// `with-postgres`, on this root.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(WITH_POSTGRES);
        command.env("GEN_DURABLE_PG_DIR", &self.0);
        command
    }

    /// A user that has its database and keeps it.
    pub(crate) fn user(&self) -> User {
        let mut command = self.command();
        command.args(["sh", "-c", STAY]).stdout(Stdio::piped());
        User::spawn(command)
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A process that uses a server; killed with its command when it goes.
pub(crate) struct User {
    pub(crate) process: Child,
    pub(crate) url: String,
}

impl User {
    /// The command must print the URL as its first line.
    pub(crate) fn spawn(mut command: Command) -> Self {
        use std::os::unix::process::CommandExt;
        let mut process = command.process_group(0).spawn().expect("the binary was built");
        let mut url = String::new();
        BufReader::new(process.stdout.take().expect("piped")).read_line(&mut url).expect("a line");
        Self { process, url: url.trim().to_owned() }
    }

    pub(crate) fn home(&self) -> PathBuf {
        PathBuf::from(self.url.split_once("?host=").expect("a socket URL").1)
    }

    pub(crate) fn server(&self) -> i32 {
        postmaster(&self.home())
    }

    pub(crate) fn kill(&mut self) {
        let group = i32::try_from(self.process.id()).expect("a process id");
        signal(-group, libc::SIGKILL);
        self.process.wait().expect("our child");
    }
}

impl Drop for User {
    fn drop(&mut self) {
        self.kill();
    }
}

pub(crate) fn postmaster(home: &Path) -> i32 {
    let file = fs::read_to_string(home.join("data/postmaster.pid")).expect("the server runs");
    file.lines().next().expect("a line").parse().expect("a process id")
}

pub(crate) fn signal(pid: i32, signal: i32) {
    // SAFETY: plain numbers.
    unsafe { libc::kill(pid, signal) };
}

/// Gone, or a zombie that only waits to be reaped.
pub(crate) fn is_gone(pid: i32) -> bool {
    state_and_parent(pid).is_none_or(|(state, _)| state == "Z")
}

pub(crate) fn parent(pid: i32) -> i32 {
    state_and_parent(pid).expect("the process lives").1.parse().expect("a process id")
}

fn state_and_parent(pid: i32) -> Option<(String, String)> {
    let printed = Command::new("ps").args(["-o", "state=,ppid=", "-p", &pid.to_string()]).output().expect("ps");
    let printed = String::from_utf8_lossy(&printed.stdout).into_owned();
    let mut words = printed.split_whitespace().map(str::to_owned);
    Some((words.next()?, words.next()?))
}

pub(crate) fn eventually(what: &str, holds: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < until, "not within 20 s: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Runs SQL through `psql`, as a user of the URL would.
pub(crate) fn psql(url: &str, sql: &str) -> String {
    let mut command = Command::new("psql");
    let done = command.args(["-XAtq", "-v", "ON_ERROR_STOP=1", "-c", sql, url]).output().expect("psql");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}
