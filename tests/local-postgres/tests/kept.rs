//! A kept server goes with its last user; its data stay.

mod common;

use std::process::{Command, Stdio};

use common::{Root, User, eventually, is_gone, postmaster, psql, signal};
use local_postgres::Profile;

/// Set in the process that uses the server: this very test once more.
const USER: &str = "LOCAL_POSTGRES_TEST_KEPT_USER";

/// Prints a URL and stays until it is killed.
#[test]
#[ignore = "run by the others, in a process of its own"]
fn user() {
    if std::env::var_os(USER).is_some() {
        let server = local_postgres::kept("kept", Profile::Durable).expect("a server is installed");
        println!("\n{}", server.url("postgres"));
        std::thread::sleep(std::time::Duration::from_secs(60));
    }
}

fn user_of(root: &Root) -> User {
    // The runner prints lines of its own first.
    let filtered = r#""$0" --exact user --ignored --nocapture --test-threads=1 | grep --line-buffered ^postgres://"#;
    let mut command = Command::new("sh");
    command.args(["-c", filtered]).arg(std::env::current_exe().expect("our path"));
    command.env(USER, "1").env("GEN_DURABLE_PG_DIR", &root.0).stdout(Stdio::piped());
    User::spawn(command)
}

#[test]
fn the_data_outlive_the_server() {
    let root = Root::new();
    let mut first = user_of(&root);
    psql(&first.url, "CREATE TABLE kept AS SELECT 7 AS n");
    let server = first.server();
    first.kill();
    eventually("the server goes", || is_gone(server));
    let log = first.home().with_file_name("server.log");
    let second = user_of(&root);
    assert_ne!(second.server(), server);
    assert_eq!(second.url, first.url);
    assert_eq!(psql(&second.url, "SELECT n FROM kept"), "7");
    let log = std::fs::read_to_string(log).expect("a log");
    assert!(!log.contains("not properly shut down"), "an orderly stop needs no recovery: {log}");
}

#[test]
fn users_at_one_time_share_it() {
    let root = Root::new();
    let (first, second) = (user_of(&root), user_of(&root));
    assert_eq!(first.server(), second.server());
}

#[test]
fn what_was_committed_outlives_a_kill_of_everything() {
    let root = Root::new();
    let mut user = user_of(&root);
    psql(&user.url, "CREATE TABLE kept AS SELECT 7 AS n");
    let server = postmaster(&user.home());
    signal(common::parent(server), libc::SIGKILL);
    signal(server, libc::SIGKILL);
    user.kill();
    let again = user_of(&root);
    assert_eq!(psql(&again.url, "SELECT n FROM kept"), "7");
}

#[test]
fn half_a_copy_of_the_data_is_no_data() {
    let root = Root::new();
    let mut user = user_of(&root);
    let (server, home) = (user.server(), user.home());
    user.kill();
    eventually("the server goes", || is_gone(server));
    std::fs::rename(home.join("data"), home.join("data.new")).expect("our directory");
    std::fs::remove_file(home.join("data.new/PG_VERSION")).expect("it was there");
    assert_eq!(psql(&user_of(&root).url, "SELECT 1"), "1");
}

#[test]
fn a_name_that_is_no_plain_word_is_refused() {
    for name in ["", "../up", "A b", &"x".repeat(31)] {
        local_postgres::kept(name, Profile::Fast).expect_err(name);
    }
}
