//! Names as an attack.

use std::time::{Duration, Instant};

use gen_durable::{Filter, Target, Worker, start};
use gen_durable_runtime::model::{Json, SignalSpec};
use suite::{Db, eventually};

use super::{LIMIT, Make, Note, Post, Write, client, letter};

suite::stores! {
    both {
        a_queue_of_any_accepted_name_is_served_and_woken,
        a_worker_of_a_wildcard_takes_nothing_of_other_queues,
        names_that_cannot_be_are_refused_by_their_field,
        a_signal_named_like_a_pattern_wakes_nobody,
    }
}

/// Longer than any test: what begins sooner was woken.
pub(crate) const SELDOM: Duration = Duration::from_secs(60);

pub(crate) async fn with_a_victim(db: &Db) {
    db.run("CREATE TABLE victim (n int); INSERT INTO victim VALUES (7)").await;
}

pub(crate) async fn the_victim_lives(db: &Db) {
    assert_eq!(db.count("SELECT sum(n) FROM victim").await, 7);
}

const ODD: [&str; 12] =
    ["q'; drop table victim; --", "q\"", "%", "_", "*", "../x", " ", "  ", "\u{1f980}", "{schema}", "$1", "Default"];

/// O-61. Plain data: work is found, and wake-ups arrive, in a queue of any accepted name.
async fn a_queue_of_any_accepted_name_is_served_and_woken(db: Db) {
    with_a_victim(&db).await;
    let client = client(&db).await;
    let worker = Worker::new(client.clone()).handler(Post).poll(SELDOM).drain(Duration::from_secs(1));
    let longest = "q".repeat(200);
    let names = || ODD.into_iter().chain([longest.as_str()]);
    let worker = names().fold(worker, |worker, name| worker.queue(name, 2)).start().await.expect("starts");
    db.heard().await;
    for name in names() {
        let began = Instant::now();
        let handle = client.start(start(letter(name)).queue(name)).await.expect("starts");
        handle.wait().timeout(Duration::from_secs(10)).await.expect("ends");
        assert!(began.elapsed() < Duration::from_secs(5), "{name:?}: {:?}", began.elapsed());
        let listed = client.list(Filter::default().queue(name)).await.expect("a page");
        assert_eq!(listed.len(), 1, "{name:?} is no pattern");
    }
    worker.stop().await;
    the_victim_lives(&db).await;
}

/// O-61: a wildcard serves its own queue.
async fn a_worker_of_a_wildcard_takes_nothing_of_other_queues(db: Db) {
    with_a_victim(&db).await;
    let client = client(&db).await;
    let worker = Worker::new(client.clone()).handler(Post).poll(Duration::from_millis(50)).only_these_queues();
    let worker = ["%", "_", "*", ".*"].into_iter().fold(worker, |worker, name| worker.queue(name, 2));
    let worker = worker.start().await.expect("starts");
    let other = client.start(start(letter("other")).queue("a")).await.expect("starts");
    let own = client.start(start(letter("own")).queue("_")).await.expect("starts");
    own.wait().timeout(LIMIT).await.expect("ends");
    other.wait().timeout(Duration::from_millis(300)).await.expect_err("nobody serves it");
    worker.stop().await;
}

/// O-61.
async fn names_that_cannot_be_are_refused_by_their_field(db: Db) {
    with_a_victim(&db).await;
    let client = client(&db).await;
    for name in ["", "a\nb", "a:b", &"q".repeat(201), &"q".repeat(10_000)] {
        let error = client.start(start(letter("a")).queue(name)).await.expect_err("refused");
        assert_eq!(error.field(), Some("queue"), "{error}");
        assert!(error.to_string().len() < 100, "{error}");
    }
    let open = client.start(start(letter("a"))).await.expect("starts");
    let signal = |name: &str| SignalSpec {
        target: Target::Id(open.id().expect("known")),
        name: name.into(),
        payload: Json::object(),
        dedup: None,
    };
    for name in ["", "a\nb", "a:b", &"q".repeat(10_000)] {
        let error = client.signal_specs(&[signal(name)]).await.expect_err("refused");
        assert_eq!(error.field(), Some("signal name"), "{error}");
    }
    let odd = ODD.map(signal);
    client.signal_specs(&odd).await.expect("plain data");
    assert_eq!(db.count("SELECT count(*) FROM signals").await, 12);
    the_victim_lives(&db).await;
}

/// O-61: a signal's name is compared as it is.
async fn a_signal_named_like_a_pattern_wakes_nobody(db: Db) {
    with_a_victim(&db).await;
    let client = client(&db).await;
    let worker = super::worker(&client).await;
    let open = client.start(start(Write { make: Make::Wait, ..letter("a") })).await.expect("starts");
    let parked = "SELECT count(*) FROM gen_durable WHERE status = 'awaiting_signal'";
    eventually("it is parked", LIMIT, async || db.count(parked).await == 1).await;
    for name in ["%", "_", "n_te", "*", "NOTE", "note ", "{note}"] {
        let spec = SignalSpec {
            target: Target::Id(open.id().expect("known")),
            name: name.into(),
            payload: Json::stored(r#"{"text":"wrong"}"#),
            dedup: None,
        };
        client.signal_specs(&[spec]).await.expect("delivers");
    }
    assert_eq!(db.count(parked).await, 1);
    open.signal(Note { text: "right".into() }).await.expect("delivers");
    assert_eq!(open.wait().timeout(LIMIT).await.expect("ends"), "right");
    worker.stop().await;
}
