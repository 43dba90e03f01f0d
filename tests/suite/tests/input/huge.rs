//! Keys and values of every size.

use std::time::{Duration, Instant};

use gen_durable::{WaitError, start};
use rand::RngExt as _;
use suite::{Db, is_long, nothing_lost};

use super::{LIMIT, Letter, Make, Note, ROWS, Write, client, letter, worker};

suite::stores! {
    both {
        keys_have_one_limit_for_random_and_repetitive_text,
        ten_thousand_map_keys_and_a_megabyte_of_text_come_back_whole,
        a_value_above_its_limit_is_refused_or_an_error_of_its_step,
        an_endless_reason_is_cut_and_kept,
    }
    both(flavor = "multi_thread", worker_threads = 2) {
        a_large_value_holds_up_nobody_else,
    }
}

/// Text that no compression makes smaller.
fn random(bytes: usize) -> String {
    let letters = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    let mut random = rand::rng();
    (0..bytes).map(|_| char::from(letters[random.random_range(0..letters.len())])).collect()
}

/// O-59. One limit of 1,000 bytes, `letter:` included, whether the text compresses or not.
async fn keys_have_one_limit_for_random_and_repetitive_text(db: Db) {
    let client = client(&db).await;
    for bytes in [255, 993] {
        for name in [random(bytes), "a".repeat(bytes)] {
            let write = Write { desk: "d".into(), ..letter(&name) };
            assert!(client.start(start(write)).await.expect("starts").is_new());
            assert!(client.of::<Letter>(name).show().await.is_ok());
        }
    }
    for bytes in [994, 2_690, 2_696, 9_000, 1_000_000] {
        for name in [random(bytes), "a".repeat(bytes)] {
            let error = client.start(start(Write { desk: "d".into(), ..letter(&name) })).await.expect_err("refused");
            assert_eq!(error.field(), Some("key"), "{error}");
            assert!(error.to_string().len() < 100, "{error}");
            let error = client.of::<Letter>(name.clone()).show().await.expect_err("refused");
            assert_eq!(error.field(), Some("key"), "{error}");
            // Its name is `desk`, two bytes shorter than `letter`.
            let desk = name + "ab";
            let error = client.start(start(Write { desk, ..letter("n") })).await.expect_err("refused");
            assert_eq!(error.field(), Some("concurrency key"), "{error}");
        }
    }
    assert_eq!(db.count(ROWS).await, 4);
    let open = client.start(start(letter("open"))).await.expect("starts");
    let note = || open.signal(Note { text: "t".into() });
    note().dedup(random(1_000)).await.expect("delivers");
    assert_eq!(note().dedup(random(1_001)).await.expect_err("refused").field(), Some("dedup key"));
}

/// O-59.
async fn ten_thousand_map_keys_and_a_megabyte_of_text_come_back_whole(db: Db) {
    let client = client(&db).await;
    let map = (0..10_000).map(|n| (format!("key {n}"), n.to_string())).collect();
    let text = random(1 << 20);
    let write = Write { map, text: text.clone(), ..letter("many") };
    let handle = client.start(start(write)).await.expect("starts");
    let Letter::Write { map, .. } = handle.get().await.expect("there") else { panic!("it stands at its start") };
    assert_eq!((map.len(), map["key 9999"].as_str()), (10_000, "9999"));
    let worker = worker(&client).await;
    assert_eq!(handle.wait().timeout(LIMIT).await.expect("ends"), text);
    worker.stop().await;
}

/// O-59. Values have a limit of 64 MiB: above, a start is refused and an outcome is an error of its step.
async fn a_value_above_its_limit_is_refused_or_an_error_of_its_step(db: Db) {
    let client = client(&db).await;
    let above = if is_long() { 300 << 20 } else { 65 << 20 };
    let write = Write { text: "x".repeat(above), ..letter("a") };
    let error = client.start(start(write)).await.expect_err("refused");
    assert_eq!((error.is_invalid(), error.field()), (true, Some("state")), "{error}");
    let worker = worker(&client).await;
    let large = client.start(start(Write { make: Make::Large(above), ..letter("large") })).await.expect("starts");
    // Without optimisation a hundred megabytes take seconds to encode, at each of two attempts.
    let caught = large.wait().timeout(LIMIT * 6).await.expect("its catch runs");
    assert!(caught.starts_with("state has ") && caught.ends_with("at most 67108864 are allowed"), "{caught}");
    let open = client.start(start(Write { make: Make::Wait, ..letter("open") })).await.expect("starts");
    let error = open.signal(Note { text: "x".repeat(above) }).await.expect_err("refused");
    assert_eq!(error.field(), Some("payload"), "{error}");
    worker.stop().await;
}

/// O-59. A large value is slow; the others keep their pace. It is encoded on one thread of the runtime: here are two.
/// Half of the others share its lane to the database, and wait for as long as it takes to write 20 MB; all of them
/// on a file, which has one writer: there it is a quarter.
async fn a_large_value_holds_up_nobody_else(db: Db) {
    let client = client(&db).await;
    let worker = worker(&client).await;
    let bytes = if db.store.dialect() == "sqlite" { 5 << 20 } else { 20 << 20 };
    let large = client.start(start(Write { make: Make::Large(bytes), ..letter("large") })).await.expect("starts");
    let mut slowest = Duration::ZERO;
    for n in 0..50 {
        let began = Instant::now();
        let small = client.start(start(letter(&n.to_string()))).await.expect("starts");
        small.wait().timeout(LIMIT).await.expect("ends");
        slowest = slowest.max(began.elapsed());
    }
    let ended = large.wait().timeout(Duration::from_secs(60)).await.expect("ends");
    assert_eq!(ended, format!("{bytes} bytes"));
    assert!(slowest < Duration::from_secs(5), "{slowest:?}");
    nothing_lost(&db, &[large.id().expect("known")]).await;
    worker.stop().await;
}

/// O-59: an error text of any length is kept as far as it is of use.
async fn an_endless_reason_is_cut_and_kept(db: Db) {
    let client = client(&db).await;
    let worker = worker(&client).await;
    let text = "é".repeat(1 << 20);
    let failing = Write { text, make: Make::Reason, ..letter("long") };
    let failed = client.start(start(failing)).await.expect("starts").wait().timeout(LIMIT).await;
    let Err(WaitError::Failed { reason, .. }) = failed else { panic!("it fails: {failed:?}") };
    assert_eq!(reason, "é".repeat(4_000));
    worker.stop().await;
}
