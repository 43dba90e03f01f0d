//! One server for all users at a time, gone after the last, whatever was killed on the way.

mod common;

use std::process::Stdio;

use common::{Root, eventually, is_gone, parent, psql, signal};

#[test]
fn concurrent_starts_adopt_one_server() {
    let root = Root::new();
    let print_server = r#"head -1 "${DATABASE_URL#*host=}/data/postmaster.pid"; sleep 1"#;
    let users: Vec<_> = (0..12)
        .map(|_| root.command().args(["sh", "-c", print_server]).stdout(Stdio::piped()).spawn().expect("it was built"))
        .collect();
    let mut servers: Vec<String> = users
        .into_iter()
        .map(|user| String::from_utf8(user.wait_with_output().expect("our child").stdout).expect("text"))
        .collect();
    servers.dedup();
    assert_eq!(servers.len(), 1, "{servers:?}");
    assert!(!servers[0].is_empty());
}

#[test]
fn the_server_stops_when_the_last_user_is_killed() {
    let root = Root::new();
    let (mut first, mut last) = (root.user(), root.user());
    let (server, home) = (first.server(), first.home());
    let watcher = parent(server);
    first.kill();
    std::thread::sleep(std::time::Duration::from_secs(4));
    assert_eq!(psql(&last.url, "SELECT 1"), "1", "it stays for the other user");
    last.kill();
    eventually("the server goes", || is_gone(server));
    eventually("its watcher goes", || is_gone(watcher));
    eventually("its data go", || !home.join("data").exists());
}

#[test]
fn a_killed_server_is_started_anew_with_the_data_of_its_users() {
    let root = Root::new();
    let first = root.user();
    psql(&first.url, "CREATE TABLE kept AS SELECT 7 AS n");
    let killed = first.server();
    signal(killed, libc::SIGKILL);
    let second = root.user();
    assert_ne!(second.server(), killed);
    assert_eq!(psql(&first.url, "SELECT n FROM kept"), "7");
}

#[test]
fn a_server_does_not_outlive_its_watcher() {
    let root = Root::new();
    let first = root.user();
    let server = first.server();
    signal(parent(server), libc::SIGKILL);
    let second = root.user();
    assert!(is_gone(server));
    assert_eq!(psql(&second.url, "SELECT 1"), "1");
}

#[test]
fn a_start_after_everything_was_killed_at_once_works() {
    let root = Root::new();
    let mut user = root.user();
    let server = user.server();
    signal(parent(server), libc::SIGKILL);
    signal(server, libc::SIGKILL);
    user.kill();
    assert_eq!(psql(&root.user().url, "SELECT 1"), "1");
}

#[test]
fn a_stale_pid_file_that_names_a_living_process_does_no_harm() {
    let root = Root::new();
    let mut user = root.user();
    let (server, home) = (user.server(), user.home());
    user.kill();
    eventually("the server goes", || is_gone(server) && !home.join("data").exists());
    std::fs::create_dir(home.join("data")).expect("the slot is ours");
    let own = std::process::id();
    std::fs::write(home.join("data/postmaster.pid"), format!("{own}\n")).expect("the slot is ours");
    assert_eq!(psql(&root.user().url, "SELECT 1"), "1");
}

#[test]
fn a_start_from_a_damaged_initial_cluster_makes_it_anew() {
    let root = Root::new();
    let mut user = root.user();
    let (server, home) = (user.server(), user.home());
    user.kill();
    eventually("the server goes", || is_gone(server) && !home.join("data").exists());
    let pristine = home.ancestors().nth(2).expect("the version's directory").join("home/pristine");
    std::fs::remove_dir_all(pristine.join("base")).expect("it is ours");
    assert_eq!(psql(&root.user().url, "SELECT 1"), "1");
}
