//! Odd but legal keys.

use std::time::Duration;

use gen_durable::{Target, start};
use gen_durable_runtime::model::{Json, SignalSpec};
use suite::{Db, Sql, eventually, nothing_lost};

use super::{LIMIT, Letter, Make, Note, Write, client, letter, worker};

suite::stores! {
    both {
        odd_keys_are_kept_apart_byte_for_byte,
        a_key_of_one_part_never_looks_like_one_of_two,
        odd_concurrency_keys_never_block_each_other,
    }
}

const ODD: [&str; 20] = [
    "",
    " ",
    "  ",
    "42",
    "a",
    "A",
    "\u{e9}",
    "e\u{301}",
    "a ",
    " a",
    "%",
    "_",
    "name:with:colons",
    "%3A",
    "\u{1f980}",
    "\u{202e}rtl",
    "a\nb",
    "NULL",
    "\\",
    "{}",
];

/// O-12. Kept apart byte for byte; text is never read as a number.
async fn odd_keys_are_kept_apart_byte_for_byte(db: Db) {
    let client = client(&db).await;
    // An instance whose id is 42.
    db.run(Sql {
        postgres: "SELECT setval(pg_get_serial_sequence('gen_durable', 'id'), 41)",
        sqlite: "INSERT INTO sqlite_sequence (name, seq) VALUES ('gen_durable', 41)",
    })
    .await;
    let forty_two = client.start(start(Write { make: Make::Wait, ..letter("the 42nd") })).await.expect("starts");
    assert_eq!(forty_two.id().expect("known").get(), 42);
    let mut ids = Vec::new();
    for name in ODD {
        let handle = client.start(start(Write { make: Make::Wait, ..letter(name) })).await.expect("starts");
        assert!(handle.is_new(), "{name:?} was taken for another");
        ids.push(handle.id().expect("known"));
    }
    let worker = worker(&client).await;
    let parked = "SELECT count(*) FROM gen_durable WHERE status = 'awaiting_signal'";
    eventually("all are parked", LIMIT, async || db.count(parked).await == 21).await;
    for (name, id) in ODD.iter().zip(&ids) {
        let by_key = client.of::<Letter>((*name).to_owned());
        assert_eq!(by_key.show().await.expect("there").id, *id, "{name:?}");
        assert!(!client.start(start(letter(name))).await.expect("answers").is_new());
        by_key.signal(Note { text: format!("to {name:?}") }).await.expect("delivers");
        let heard = client.by_id::<Letter>(*id).wait().timeout(LIMIT).await.expect("ends");
        assert_eq!(heard, format!("to {name:?}"));
    }
    assert_eq!(db.count(parked).await, 1, "the one that nobody wrote to");
    nothing_lost(&db, &ids).await;
    worker.stop().await;
}

/// O-12: `a:b` as one part is not `a` and `b` as two; a foreign key is taken as it stands.
async fn a_key_of_one_part_never_looks_like_one_of_two(db: Db) {
    let client = client(&db).await;
    client.start(start(Write { make: Make::Wait, ..letter("a:b") })).await.expect("starts");
    assert_eq!(db.text("SELECT correlation_key FROM gen_durable").await, "letter:a%3Ab");
    let note = |key: &str| SignalSpec {
        target: Target::Key(key.into()),
        name: "note".into(),
        payload: Json::stored(r#"{"text":"t"}"#),
        dedup: None,
    };
    let answers = client.signal_specs(&["letter:a:b", "letter:%", "letter:a_3Ab", "letter:A%3AB"].map(note)).await;
    let refused = gen_durable::Delivered::NoTarget;
    assert_eq!(answers.expect("answers"), [refused; 4], "no wildcard, no folding");
}

/// O-12: a concurrency key is compared byte for byte as well.
async fn odd_concurrency_keys_never_block_each_other(db: Db) {
    let client = client(&db).await;
    let writes = ODD.iter().enumerate().map(|(n, desk)| Write { desk: (*desk).into(), ..letter(&n.to_string()) });
    let started = client.start_many(writes.map(start)).await.expect("starts");
    let keys = "SELECT count(DISTINCT concurrency_key) FROM gen_durable";
    assert_eq!(db.count(keys).await, 20);
    let worker = worker(&client).await;
    for s in &started {
        client.by_id::<Letter>(s.id()).wait().timeout(Duration::from_secs(10)).await.expect("ends");
    }
    worker.stop().await;
}
