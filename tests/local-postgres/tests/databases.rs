//! Databases come new, go with their guard, and are cloned from what was filled once.

use std::sync::atomic::{AtomicU32, Ordering};

use local_postgres::{Profile, Server, shared};

fn server() -> Server {
    shared(Profile::Fast).expect("a server is installed")
}

fn exists(server: &Server, database: &str) -> bool {
    let sql = format!("SELECT 1 FROM pg_database WHERE datname = '{database}'");
    !server.query("postgres", &sql).expect("it runs").is_empty()
}

fn template_name(what: &str) -> String {
    format!("{what}_{}", std::process::id())
}

#[test]
fn a_database_goes_with_its_guard() {
    let server = server();
    let database = server.create_database().expect("it runs");
    let name = database.name().to_owned();
    assert!(exists(&server, &name));
    drop(database);
    assert!(!exists(&server, &name));
}

#[test]
fn a_template_is_filled_once_and_its_clones_are_apart() {
    let (server, name, fills) = (server(), template_name("once"), AtomicU32::new(0));
    let make = || {
        let fill = |_: &str| {
            fills.fetch_add(1, Ordering::Relaxed);
            server.query(&format!("tpl_{name}_filling"), "CREATE TABLE t AS SELECT 1 AS n")?;
            Ok(())
        };
        server.create_from_template(&name, fill).expect("it clones")
    };
    let clones: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(make)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert_eq!(fills.load(Ordering::Relaxed), 1);
    clones[0].query("INSERT INTO t VALUES (2)").expect("it takes rows");
    for (index, clone) in clones.iter().enumerate() {
        let rows = clone.query("SELECT n FROM t").expect("the template's table");
        assert_eq!(rows.len(), if index == 0 { 2 } else { 1 });
    }
}

#[test]
fn a_failed_fill_leaves_no_template_and_the_next_caller_fills() {
    let (server, name) = (server(), template_name("failed"));
    let error = server.create_from_template(&name, |_| Err("no luck".into())).expect_err("the fill failed");
    assert!(error.to_string().contains("no luck"), "{error}");
    assert_eq!(server.clone_template(&name).expect_err("there is none").sqlstate(), Some("3D000"));
    drop(server.create_from_template(&name, |_| Ok(())).expect("it fills"));
}

#[test]
fn a_session_left_open_on_the_template_does_not_block_its_clones() {
    use std::process::{Command, Stdio};
    let (server, name) = (server(), template_name("open"));
    let filling = server.begin_template(&name).expect("it runs").expect("it is new");
    let mut session = Command::new(server.bin_dir().join("psql"));
    session.args(["-Xqc", "SELECT pg_sleep(60)", &filling.url()]).stderr(Stdio::null());
    let mut session = session.spawn().expect("psql is installed");
    let connected = format!("SELECT 1 FROM pg_stat_activity WHERE datname = '{}'", filling.database());
    while server.query("postgres", &connected).expect("it runs").is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    filling.finish().expect("it finishes");
    drop(server.clone_template(&name).expect("it clones"));
    assert!(!session.wait().expect("our child").success(), "it was cut off");
}

#[test]
fn a_template_name_that_needs_quotes_is_refused() {
    let error = server().clone_template("a\"b").expect_err("refused");
    assert!(error.to_string().contains("a-z"), "{error}");
}

#[test]
fn the_fast_server_has_room_for_many_tests_and_counts_statements() {
    let server = server();
    let show = |name: &str| server.query("postgres", &format!("SHOW {name}")).expect("it runs")[0][0].clone();
    assert_eq!(show("max_connections").as_deref(), Some("300"));
    assert_eq!(show("fsync").as_deref(), Some("off"));
    let database = server.create_database().expect("it runs");
    if show("shared_preload_libraries").as_deref() != Some("pg_stat_statements") {
        return local_postgres::skip("pg_stat_statements is not installed");
    }
    database.query("CREATE EXTENSION pg_stat_statements; SELECT 1 FROM pg_stat_statements").expect("it counts");
}

#[test]
fn the_durable_server_waits_for_the_disk() {
    let server = shared(Profile::Durable).expect("a server is installed");
    for name in ["fsync", "synchronous_commit", "full_page_writes"] {
        let rows = server.query("postgres", &format!("SHOW {name}")).expect("it runs");
        assert_eq!(rows[0][0].as_deref(), Some("on"), "{name}");
    }
}

#[test]
fn no_server_listens_on_the_network() {
    let rows = server().query("postgres", "SHOW listen_addresses").expect("it runs");
    assert_eq!(rows[0][0].as_deref(), Some(""));
}
