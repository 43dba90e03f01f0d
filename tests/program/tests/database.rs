//! Which database a program works on, and what it says when it cannot.

mod place;

use place::{Place, Said, Says};

const PLAIN: &str = env!("CARGO_BIN_EXE_plain");
const FOUND: &str = env!("CARGO_BIN_EXE_found");
const LINE: &str =
    "no DATABASE_URL: using sqlite://gen-durable.db in the current directory (--database URL names another)\n";

#[test]
fn without_a_database_it_makes_a_file_and_says_so_in_one_line() {
    let place = Place::empty();
    let Said { stdout, stderr, .. } = place.run(PLAIN, &["migrate"]).done();
    assert_eq!(stderr, LINE);
    assert!(!stdout.is_empty() && place.has("gen-durable.db"), "{stdout}");
    assert_eq!(place.run(PLAIN, &["start", "greet", r#"{"name": "Ada"}"#]).done().stdout, "started instance 1\n");
    assert_eq!(place.files(), 1, "a program that has ended leaves one file");
    place.work(PLAIN, || place.run(PLAIN, &["show", "1"]).done().stdout.contains("hello Ada"));
}

#[test]
fn a_log_of_json_says_it_in_json() {
    let place = Place::empty();
    let said = place.run(PLAIN, &["--log", "json", "migrate"]).done();
    let line: serde_json::Value = serde_json::from_str(&said.stderr).expect("one line of JSON");
    assert_eq!(line["database"], "sqlite://gen-durable.db");
}

#[test]
fn what_is_named_is_used_and_the_nearer_wins() {
    let place = Place::empty();
    let url = |name: &str| format!("sqlite://{name}");
    let given = place.run(PLAIN, &["--database", &url("given.db"), "migrate"]).done();
    assert!(given.stderr.is_empty() && place.has("given.db"), "{}", given.stderr);
    place.command(PLAIN, &["migrate"]).env("DATABASE_URL", url("environment.db")).said().done();
    assert!(place.has("environment.db"));
    let both = ["migrate", "--database", &url("nearer.db")];
    place.command(PLAIN, &both).env("DATABASE_URL", url("farther.db")).said().done();
    assert!(place.has("nearer.db") && !place.has("farther.db") && !place.has("gen-durable.db"));
    // Set, and to nothing: as if it were not.
    assert_eq!(
        place.command(PLAIN, &["list"]).env("DATABASE_URL", "").said().stderr.lines().next(),
        LINE.lines().next()
    );
}

#[test]
fn what_the_program_finds_goes_before_the_file_and_behind_what_is_named() {
    let place = Place::empty();
    let found = place.run(FOUND, &["migrate"]).done();
    assert!(found.stderr.is_empty() && place.has("found.db"), "{}", found.stderr);
    place.run(FOUND, &["migrate", "--database", "sqlite://named.db"]).done();
    assert!(place.has("named.db") && !place.has("gen-durable.db"));
}

#[test]
fn what_one_file_cannot_do_is_refused_in_a_line() {
    let place = Place::empty();
    place.write("nonsense.db", &"This is a letter, and no database. ".repeat(40));
    let cases: &[(&[&str], &str)] = &[
        (&["list"], "run `migrate`"),
        (&["--database", "sqlite://no/such/directory/x.db", "migrate"], "make the directory no/such/directory first"),
        (&["--database", "sqlite://nonsense.db", "migrate"], "is no SQLite database"),
        (&["--schema", "other", "migrate"], "schema"),
        (&["--database", "gen-durable.db", "migrate"], "sqlite://"),
        (&["--database", "mysql://localhost/x", "migrate"], "names no store"),
    ];
    for (args, text) in cases {
        let said = place.run(PLAIN, args).refused();
        assert!(said.contains(text), "{args:?}: {said}");
    }
    assert_eq!(place.files(), 1, "no file was made");
}

#[test]
fn a_machine_that_needs_the_other_store_refuses_to_boot_and_says_what_to_do() {
    let place = Place::empty();
    let said = place.run(env!("CARGO_BIN_EXE_needs-postgres"), &[]).refused();
    assert!(said.contains("needs store = \"postgres\", and the database is sqlite: "), "{said}");
    assert!(said.contains("a URL that begins with postgres://"), "{said}");
    let server = local_postgres::shared(local_postgres::Profile::Fast).expect("a server is installed");
    let url = server.create_database().expect("a database");
    let said = place.run(env!("CARGO_BIN_EXE_needs-sqlite"), &["--database", &url.url()]).refused();
    assert!(said.contains("needs store = \"sqlite\", and the database is postgres: "), "{said}");
    assert!(said.contains("a URL that begins with sqlite://"), "{said}");
}
