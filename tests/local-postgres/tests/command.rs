//! `with-postgres` runs a command as if it were not there.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use common::{Root, User, WITH_POSTGRES, eventually, is_gone, parent, psql, signal};

#[test]
fn the_exit_code_of_the_command_is_passed_on() {
    let root = Root::new();
    let code = |script: &str| root.command().args(["sh", "-c", script]).status().expect("it was built").code();
    assert_eq!(code("exit 7"), Some(7));
    assert_eq!(code("kill -KILL $$"), Some(128 + 9));
    assert_eq!(root.command().arg("/nonexistent").stderr(Stdio::null()).status().expect("it runs").code(), Some(127));
}

#[test]
fn a_signal_is_passed_on_and_the_database_is_dropped() {
    let root = Root::new();
    let other = root.user();
    let mut command = root.command();
    let script = r#"trap 'kill $!; exit 5' TERM; sleep 60 & echo "$DATABASE_URL"; wait"#;
    command.args(["sh", "-c", script]).stdout(Stdio::piped());
    let mut user = User::spawn(command);
    signal(user.process.id().try_into().expect("a process id"), libc::SIGTERM);
    assert_eq!(user.process.wait().expect("our child").code(), Some(5));
    let left = psql(&other.url, "SELECT count(*) FROM pg_database WHERE datname LIKE 't\\_%'");
    assert_eq!(left, "1", "only the other user's");
}

#[test]
fn a_skip_is_written_where_the_runner_looks() {
    let root = Root::new();
    fs::create_dir(&root.0).expect("it is new");
    let file = root.0.join("skips");
    let this = std::env::current_exe().expect("it runs");
    let mut command = Command::new(this);
    command.args(["--exact", "a_skipping_test"]).env("GEN_DURABLE_SKIPS", &file).stdout(Stdio::null());
    assert!(command.status().expect("it runs").success());
    assert_eq!(fs::read_to_string(file).expect("written"), "a_skipping_test: for the test of skips\n");
}

#[test]
fn a_skipping_test() {
    if std::env::var_os("GEN_DURABLE_SKIPS").is_some_and(|file| file.to_string_lossy().contains("local-pg-test")) {
        local_postgres::skip("for the test of skips");
    }
}

#[test]
fn without_binaries_the_error_says_in_one_line_what_to_install() {
    let root = Root::new();
    let done = root.command().arg("true").env("GEN_DURABLE_PG_BIN", "/nonexistent").output().expect("it was built");
    let said = String::from_utf8(done.stderr).expect("text");
    assert_eq!(done.status.code(), Some(2));
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("apt-get install postgresql") && said.contains("brew install postgresql"), "{said}");
    assert!(said.contains("/nonexistent"), "{said}");
}

#[test]
fn a_directory_of_another_user_is_refused() {
    let root = Root::new();
    fs::create_dir(&root.0).expect("it is new");
    fs::set_permissions(&root.0, fs::Permissions::from_mode(0o777)).expect("it is ours");
    let done = root.command().arg("true").output().expect("it was built");
    assert_eq!(done.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&done.stderr).contains("not a directory of this user alone"));
}

#[test]
fn the_callers_settings_for_another_server_do_not_reach_this_one() {
    let root = Root::new();
    let mut command = root.command();
    command.envs([("PGPORT", "1"), ("PGHOST", "nowhere"), ("PGDATA", "/nonexistent"), ("PGUSER", "nobody")]);
    let done = command.args(["sh", "-c", r#"psql -XAtqc 'SELECT 1' "$DATABASE_URL""#]).output().expect("it was built");
    assert_eq!(String::from_utf8_lossy(&done.stdout).trim(), "1", "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn it_runs_as_an_unprivileged_user() {
    // SAFETY: takes nothing.
    if unsafe { libc::geteuid() } != 0 {
        return local_postgres::skip("only root can become another user; the other tests already run unprivileged");
    }
    const NOBODY: u32 = 65_534;
    let bin = Root::new();
    fs::create_dir(&bin.0).expect("it is new");
    let program = bin.0.join("with-postgres");
    fs::copy(WITH_POSTGRES, &program).expect("the binary was built");
    let root = Root::new();
    let mut command = Command::new(&program);
    let script = r#"psql -XAtqc 'SELECT 1' "$DATABASE_URL" >/dev/null && echo "$DATABASE_URL"; exec sleep 60"#;
    command.args(["sh", "-c", script]).env("GEN_DURABLE_PG_DIR", &root.0).stdout(Stdio::piped());
    let mut user = User::spawn({
        command.uid(NOBODY).gid(NOBODY).current_dir("/");
        command
    });
    let server = user.server();
    let watcher = parent(server);
    user.kill();
    eventually("server and watcher go", || is_gone(server) && is_gone(watcher));
}
