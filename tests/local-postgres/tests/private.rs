//! A server of one's own can be stopped and started, and goes with its owner.

mod common;

use std::path::Path;
use std::process::{Command, Stdio};

use common::{User, eventually, is_gone};
use local_postgres::{PrivateServer, Server};

fn kept_after(outage: impl Fn(&PrivateServer) -> local_postgres::Result<()>) {
    let server = Server::private().expect("a server is installed");
    server.query("postgres", "CREATE TABLE kept AS SELECT 7 AS n").expect("it runs");
    outage(&server).expect("it stops");
    server.query("postgres", "SELECT 1").expect_err("it is down");
    server.start().expect("it starts");
    let rows = server.query("postgres", "SELECT n FROM kept").expect("it runs again");
    assert_eq!(rows[0][0].as_deref(), Some("7"));
}

#[test]
fn what_was_committed_is_there_after_an_orderly_stop() {
    kept_after(PrivateServer::stop_fast);
}

#[test]
fn what_was_committed_is_there_after_an_immediate_stop() {
    kept_after(PrivateServer::stop_immediate);
}

#[test]
fn what_was_committed_is_there_after_a_kill() {
    kept_after(PrivateServer::kill);
}

#[test]
fn a_restart_is_another_process_on_the_same_socket() {
    let server = Server::private().expect("a server is installed");
    let before = (server.pid(), server.url("postgres"));
    server.restart().expect("it restarts");
    assert_ne!(server.pid(), before.0);
    assert_eq!(server.url("postgres"), before.1);
}

#[test]
fn two_private_servers_are_apart_and_leave_nothing() {
    let (one, two) = (Server::private().expect("it starts"), Server::private().expect("it starts"));
    let dirs = [one.socket_dir(), two.socket_dir()];
    assert_ne!(dirs[0], dirs[1]);
    drop(one);
    two.query("postgres", "SELECT 1").expect("the other still runs");
    drop(two);
    assert!(dirs.iter().all(|dir| !dir.parent().expect("it has one").exists()));
}

/// The owner is this very test in another process.
#[test]
fn a_private_server_goes_with_its_killed_owner() {
    const OWNER: &str = "LOCAL_POSTGRES_TEST_OWNER";
    if std::env::var_os(OWNER).is_some() {
        let server = Server::private().expect("a server is installed");
        std::fs::write(std::env::var_os(OWNER).expect("just seen"), server.url("postgres")).expect("it is writable");
        std::thread::sleep(std::time::Duration::from_secs(60));
        return;
    }
    let told = std::env::temp_dir().join(format!("local-postgres-owner-{}", std::process::id()));
    let wait_and_print = r#""$0" --exact a_private_server_goes_with_its_killed_owner >/dev/null & until [ -s "$1" ]; do sleep 0.05; done; cat "$1"; echo; wait"#;
    let mut command = Command::new("sh");
    command.arg("-c").arg(wait_and_print).arg(std::env::current_exe().expect("it runs")).arg(&told);
    command.env(OWNER, &told).stdout(Stdio::piped());
    let mut owner = User::spawn(command);
    let _ = std::fs::remove_file(&told);
    let home = Path::new(owner.url.split_once("?host=").expect("a socket URL").1).to_owned();
    let server = common::postmaster(&home);
    owner.kill();
    eventually("the server goes", || is_gone(server));
    eventually("its directory goes", || !home.exists());
}
