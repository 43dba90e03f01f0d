//! Names of schemas.

use std::time::{Duration, Instant};

use gen_durable::{Client, Migration, Worker, start};
use suite::Db;

use super::{
    LIMIT, Letter, Make, Note, Post, Write, letter,
    names::{SELDOM, the_victim_lives, with_a_victim},
};

suite::stores! {
    postgres {
        a_schema_of_any_accepted_name_works_end_to_end => "a file is one schema",
        schemas_with_like_names_hear_nothing_of_each_other => "a file is one schema",
    }
}

/// O-60. Each works end to end exactly as named: up, run, wake, signal, down.
async fn a_schema_of_any_accepted_name_works_end_to_end(db: Db) {
    with_a_victim(&db).await;
    let longest = format!("é{}", "x".repeat(61));
    let names = [
        "public; drop table victim; --",
        "a\"b",
        "\"; drop table victim; --",
        "o'brien",
        "a$$b",
        "x.y",
        "My-Schema",
        "select",
        "1st",
        "schéma",
        "{schema}",
        "a\\b",
        "%s $1 :1 ?",
        " ",
        longest.as_str(),
    ];
    for name in names {
        let client = Client::options(&db.url).pool_size(4).schema(name).expect("accepted").open().expect("opens");
        let worker = Worker::new(client.clone()).handler(Post).poll(SELDOM).drain(Duration::from_secs(1));
        let worker = worker.start().await.unwrap_or_else(|e| panic!("{name:?}: {e}"));
        let began = Instant::now();
        let handle = client.start(start(Write { make: Make::Wait, ..letter("a") })).await.expect("starts");
        while !matches!(handle.get().await.expect("there"), Letter::Read {}) {
            assert!(began.elapsed() < Duration::from_secs(10), "{name:?}: nobody was woken");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        handle.signal(Note { text: name.into() }).await.expect("delivers");
        assert_eq!(handle.wait().timeout(Duration::from_secs(10)).await.expect("ends"), name);
        worker.stop().await;
        let named = sqlx::query_scalar::<_, i64>("SELECT count(*) FROM pg_namespace WHERE nspname = $1").bind(name);
        assert_eq!(named.fetch_one(db.pool()).await.expect("counts"), 1, "exactly as named");
        client.migrate(Migration { to: Some(0), ..Migration::default() }).await.expect("goes down");
        client.check().await.expect_err("it is gone");
        client.close().await;
        the_victim_lives(&db).await;
    }
    let left =
        "SELECT count(*) FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname NOT IN ('public', 'information_schema')";
    assert_eq!(db.count(left).await, 0);
}

/// O-60. Refused by a rule that is said, never cut in silence.
#[tokio::test]
async fn a_schema_that_cannot_be_named_so_is_refused() {
    let long = "x".repeat(64);
    let cases = [
        ("", "is empty"),
        ("a\nb", "control character"),
        ("a\0b", "control character"),
        (long.as_str(), "has 64 bytes: at most 63 are allowed"),
        ("pg_temp", "reserved"),
        ("information_schema", "reserved"),
    ];
    for (name, problem) in cases {
        let error = Client::options("postgres://localhost/x").schema(name).expect_err("refused");
        assert_eq!(error.field(), Some("schema"));
        assert!(error.to_string().contains(problem), "{error}");
    }
}

/// O-60: two schemas of one database are two worlds, however alike their names.
async fn schemas_with_like_names_hear_nothing_of_each_other(db: Db) {
    with_a_victim(&db).await;
    let open =
        |name: &str| Client::options(&db.url).pool_size(4).schema(name).expect("accepted").open().expect("opens");
    let (upper, lower) = (open("Shop"), open("shop"));
    lower.migrate(Migration::default()).await.expect("migrates");
    let worker = Worker::new(upper.clone()).handler(Post).start().await.expect("starts");
    let ours = upper.start(start(letter("a"))).await.expect("starts");
    let theirs = lower.start(start(letter("a"))).await.expect("starts");
    assert!(theirs.is_new());
    ours.wait().timeout(LIMIT).await.expect("ends");
    theirs.wait().timeout(Duration::from_millis(300)).await.expect_err("nobody works there");
    worker.stop().await;
    the_victim_lives(&db).await;
}
