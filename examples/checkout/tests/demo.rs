//! The demo as a person runs it: the real binary, on a real database, killed at any moment.

use std::{
    fmt::Write,
    process::{Child, Command, Output, Stdio},
    time::Duration,
};

use local_postgres::{Database, Profile};

/// The demo on this database.
fn demo(url: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_checkout"));
    command.arg("demo").env("DATABASE_URL", url);
    command
}

fn to_its_end(mut command: Command) -> (String, String) {
    let Output { status, stdout, stderr } = command.output().expect("the binary was built");
    let [stdout, stderr] = [stdout, stderr].map(|bytes| String::from_utf8(bytes).expect("text"));
    assert!(status.success(), "{status}\n{stdout}\n{stderr}");
    (stdout, stderr)
}

fn database() -> Database {
    local_postgres::shared(Profile::Fast).and_then(|server| server.create_database()).expect("a server is installed")
}

/// The outcomes in the printed table, in the order of the file.
fn outcomes(table: &str) -> Vec<String> {
    let head = table.lines().find(|line| line.starts_with("order") || line.contains(" order  ")).expect("a head");
    let [from, to] = ["outcome", "payment"].map(|column| head.find(column).expect("a column"));
    let rows = table.lines().skip_while(|line| *line != head).skip(1).take_while(|line| !line.is_empty());
    rows.map(|row| row[from..to].trim().to_owned()).collect()
}

fn number(database: &Database, sql: &str) -> i64 {
    let rows = database.query(sql).expect(sql);
    rows[0][0].as_deref().expect("not null").parse().expect("a number")
}

#[test]
fn the_sample_ends_with_a_row_for_every_order() {
    let database = database();
    let (table, said) = to_its_end(demo(&database.url()));
    assert!(said.contains("20 orders started"), "{said}");
    let outcomes = outcomes(&table);
    assert_eq!(outcomes.len(), 20, "{table}");
    for (order, outcome) in (1..).zip(&outcomes) {
        let expected = match order {
            4 => "released: declined, the card has expired",
            9 => "released: nobody paid",
            11 => "failed: out of stock: 3 astrolabe",
            14 => "released: refused: 24 pieces, a parcel takes 20",
            _ => "shipped",
        };
        assert_eq!(outcome, expected, "order {order}\n{table}");
    }
    assert!(table.contains("20 orders: 16 shipped, 3 released, 1 failed"), "{table}");
    assert_ne!(number(&database, "SELECT count(*) FROM carrier_calls WHERE answer = 'lost'"), 0, "it fails at times");
}

#[test]
fn a_second_run_starts_nothing_and_prints_the_same() {
    let database = database();
    let (first, _) = to_its_end(demo(&database.url()));
    let (second, said) = to_its_end(demo(&database.url()));
    assert_eq!(first, second);
    assert!(said.contains("all 20 orders have ended before"), "{said}");
}

#[test]
fn a_faulty_file_is_refused_with_its_line_and_field() {
    let database = database();
    let file = File::new("faulty", "order,customer,item,pieces,payment,patience\n1,Ada,lamp,many,paid,1m\n");
    let done = demo(&database.url()).arg(&file.0).output().expect("the binary was built");
    let said = String::from_utf8(done.stderr).expect("text");
    assert!(!done.status.success() && said.contains("line 2, pieces: \"many\""), "{said}");
}

/// Killed again and again, it ends as if nothing had been.
#[test]
fn a_killed_demo_loses_nothing_and_repeats_nothing() {
    let (orders, kills) = if std::env::var_os("GEN_DURABLE_LONG").is_some() { (2_000, 20) } else { (200, 10) };
    let database = database();
    let file = File::new("many", &many(orders));
    for _ in 0..kills {
        let running = demo(&database.url()).arg(&file.0).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        kill_after(running.expect("the binary was built"), Duration::from_millis(rand::random_range(50..800)));
    }
    let mut last = demo(&database.url());
    last.arg(&file.0);
    let (table, _) = to_its_end(last);
    every_order_is_accounted_for(&outcomes(&table));
    let none = [
        ("SELECT count(*) - count(DISTINCT correlation_key) FROM gen_durable", "two instances of one order"),
        ("SELECT count(*) FROM gen_durable WHERE status NOT IN ('done', 'failed')", "not ended"),
        (
            "SELECT count(*) FROM (SELECT FROM carrier_calls GROUP BY order_id HAVING count(DISTINCT key) > 1) x",
            "two keys",
        ),
        ("SELECT count(*) FROM (SELECT FROM shop_holds GROUP BY order_id HAVING count(*) > 1) x", "two holds"),
        ("SELECT count(*) FROM shop_holds WHERE state = 'held'", "still held"),
        (
            "SELECT sum(delivered - available)::bigint - (SELECT sum(pieces)::bigint FROM shop_holds WHERE state = 'sold') FROM shop_stock",
            "pieces that are nowhere",
        ),
        (
            "SELECT count(*) FROM shop_holds h WHERE (state = 'sold') <> (1 = (SELECT count(*) FROM carrier_parcels p WHERE p.order_id = h.order_id AND NOT recalled))",
            "sold without a parcel on its way, or the reverse",
        ),
        (
            "SELECT count(*) FROM gen_durable g WHERE result ? 'shipped' AND NOT EXISTS (SELECT FROM carrier_parcels p WHERE p.tracking = result -> 'shipped' ->> 'tracking' AND NOT recalled)",
            "a receipt without its parcel",
        ),
    ];
    for (sql, what) in none {
        assert_eq!(number(&database, sql), 0, "{what}\n{table}");
    }
    assert_eq!(number(&database, "SELECT count(*) FROM gen_durable WHERE fsm = 'checkout'"), i64::from(orders));
}

/// Every tenth order is declined, every tenth is not paid at all.
fn many(orders: u32) -> String {
    let mut file = String::from("order,customer,item,pieces,payment,patience\n");
    for order in 1..=orders {
        let (payment, patience) = match order % 10 {
            3 => ("declined", "1h"),
            6 => ("never", "2s"),
            _ => ("paid", "1h"),
        };
        let item = ["teapot", "lamp", "kite"][order as usize % 3];
        writeln!(file, "{order},customer {order},{item},{},{payment},{patience}", 1 + order % 4).expect("a string");
    }
    file
}

fn every_order_is_accounted_for(outcomes: &[String]) {
    for (order, outcome) in (1..).zip(outcomes) {
        let expected: &[&str] = match order % 10 {
            3 => &["released: declined, the card has expired"],
            6 => &["released: nobody paid"],
            // All five attempts may find the carrier down.
            _ => &["shipped", "released: the carrier is down", "released: no answer from the carrier"],
        };
        assert!(expected.contains(&outcome.as_str()), "order {order}: {outcome}");
    }
}

fn kill_after(mut running: Child, wait: Duration) {
    std::thread::sleep(wait);
    // SIGKILL: nothing of it runs any more. One that had ended did so well.
    running.kill().expect("our child");
    let status = running.wait().expect("our child");
    assert!(status.success() || status.code().is_none(), "{status}");
}

/// Without a database it brings its own, whose data outlive both the demo and the server.
#[test]
fn the_private_database_stays_over_a_kill() {
    let root = Root(format!("/var/tmp/checkout-test-{}", std::process::id()));
    let own = || {
        let mut command = demo("");
        command.env_remove("DATABASE_URL").env("GEN_DURABLE_PG_DIR", &root.0);
        command
    };
    let running = own().stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary was built");
    // Long enough for the server's first start, and for some of the orders.
    kill_after(running, Duration::from_secs(4));
    std::thread::sleep(SERVER_STAYS);
    let (table, said) = to_its_end(own());
    assert!(said.contains("its data stay in") && said.contains("before"), "{said}");
    assert_eq!(outcomes(&table).len(), 20, "{table}");
    let mut anew = own();
    anew.arg("--fresh");
    let (_, said) = to_its_end(anew);
    assert!(said.contains("20 orders started"), "{said}");
}

/// Longer than a private server outlives its last user.
const SERVER_STAYS: Duration = Duration::from_secs(5);

/// Where this test's private servers live.
struct Root(String);

impl Drop for Root {
    fn drop(&mut self) {
        std::thread::sleep(SERVER_STAYS);
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A file of this test's own, removed at the end.
struct File(std::path::PathBuf);

impl File {
    fn new(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("checkout-{name}-{}.csv", std::process::id()));
        std::fs::write(&path, text).expect("a writable directory");
        Self(path)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
