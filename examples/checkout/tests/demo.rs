//! The demo as a person runs it: the real binary, on a real database, killed at any moment; the same on both stores.

mod support;

use std::{
    fmt::Write,
    process::{Child, Command, Output, Stdio},
    time::Duration,
};

use support::Database;

/// Each promise on both stores, from one body.
macro_rules! on_both_stores {
    ($($promise:ident),* $(,)?) => {
        mod sqlite { $(#[test] fn $promise() { super::$promise(super::Database::sqlite()); })* }
        mod postgres { $(#[test] fn $promise() { super::$promise(super::Database::postgres()); })* }
    };
}

on_both_stores![
    the_sample_ends_with_a_row_for_every_order,
    a_second_run_starts_nothing_and_prints_the_same,
    a_faulty_file_is_refused_with_its_line_and_field,
    a_killed_demo_loses_nothing_and_repeats_nothing,
];

fn to_its_end(mut command: Command) -> (String, String) {
    let Output { status, stdout, stderr } = command.output().expect("the binary was built");
    let [stdout, stderr] = [stdout, stderr].map(|bytes| String::from_utf8(bytes).expect("text"));
    assert!(status.success(), "{status}\n{stdout}\n{stderr}");
    (stdout, stderr)
}

/// The outcomes in the printed table, in the order of the file.
fn outcomes(table: &str) -> Vec<String> {
    let head = table.lines().find(|line| line.starts_with("order") || line.contains(" order  ")).expect("a head");
    let [from, to] = ["outcome", "payment"].map(|column| head.find(column).expect("a column"));
    let rows = table.lines().skip_while(|line| *line != head).skip(1).take_while(|line| !line.is_empty());
    rows.map(|row| row[from..to].trim().to_owned()).collect()
}

fn the_sample_ends_with_a_row_for_every_order(database: Database) {
    let (table, said) = to_its_end(database.demo());
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
    assert_ne!(database.number("SELECT count(*) FROM carrier_calls WHERE answer = 'lost'"), 0, "it fails at times");
}

fn a_second_run_starts_nothing_and_prints_the_same(database: Database) {
    let (first, _) = to_its_end(database.demo());
    let (second, said) = to_its_end(database.demo());
    assert_eq!(first, second);
    assert!(said.contains("all 20 orders have ended before"), "{said}");
}

fn a_faulty_file_is_refused_with_its_line_and_field(database: Database) {
    let file = database.file("order,customer,item,pieces,payment,patience\n1,Ada,lamp,many,paid,1m\n");
    let done = database.demo().arg(file).output().expect("the binary was built");
    let said = String::from_utf8(done.stderr).expect("text");
    assert!(!done.status.success() && said.contains("line 2, pieces: \"many\""), "{said}");
}

/// Killed again and again, it ends as if nothing had been.
fn a_killed_demo_loses_nothing_and_repeats_nothing(database: Database) {
    let (orders, kills) = if std::env::var_os("GEN_DURABLE_LONG").is_some() { (2_000, 20) } else { (200, 10) };
    let file = database.file(&many(orders));
    for _ in 0..kills {
        let running = database.demo().arg(&file).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        kill_after(running.expect("the binary was built"), Duration::from_millis(rand::random_range(50..800)));
    }
    let mut last = database.demo();
    last.arg(&file);
    let (table, _) = to_its_end(last);
    every_order_is_accounted_for(&outcomes(&table));
    let none = [
        ("SELECT count(*) - count(DISTINCT correlation_key) FROM gen_durable", "two instances of one order"),
        ("SELECT count(*) FROM gen_durable WHERE status NOT IN ('done', 'failed')", "not ended"),
        (
            "SELECT count(*) FROM (SELECT 1 FROM carrier_calls GROUP BY order_id HAVING count(DISTINCT key) > 1) x",
            "two keys",
        ),
        ("SELECT count(*) FROM (SELECT 1 FROM shop_holds GROUP BY order_id HAVING count(*) > 1) x", "two holds"),
        ("SELECT count(*) FROM shop_holds WHERE state = 'held'", "still held"),
        (
            "SELECT cast(sum(delivered - available) AS bigint) - (SELECT cast(sum(pieces) AS bigint) FROM shop_holds WHERE state = 'sold') FROM shop_stock",
            "pieces that are nowhere",
        ),
        (
            "SELECT count(*) FROM shop_holds h WHERE (state = 'sold') <> (1 = (SELECT count(*) FROM carrier_parcels p WHERE p.order_id = h.order_id AND NOT recalled))",
            "sold without a parcel on its way, or the reverse",
        ),
        (
            "SELECT count(*) FROM gen_durable g WHERE result -> 'shipped' IS NOT NULL AND NOT EXISTS (SELECT 1 FROM carrier_parcels p WHERE p.tracking = result -> 'shipped' ->> 'tracking' AND NOT recalled)",
            "a receipt without its parcel",
        ),
    ];
    for (sql, what) in none {
        assert_eq!(database.number(sql), 0, "{what}\n{table}");
    }
    assert_eq!(database.number("SELECT count(*) FROM gen_durable WHERE fsm = 'checkout'"), i64::from(orders));
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
