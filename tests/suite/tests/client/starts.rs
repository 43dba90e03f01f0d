//! One occupant for each business key; batches of any size.

use std::{collections::HashMap, time::Duration};

use gen_durable::{Delivered, start};
use suite::{Db, WorkerOptions, size};

use super::{Name, client, ids};
use crate::machines::{Fall, Go, Patience, Run, Then, Timed};

suite::stores! {
    both {
        of_fifty_starts_of_one_key_at_once_one_wins_and_all_learn_who,
        a_batch_says_which_item_is_a_duplicate_and_of_whom,
        an_invalid_item_is_named_by_its_position_and_nothing_is_started,
        a_hundred_thousand_starts_in_one_call_are_all_there_once,
        seventy_thousand_signals_in_one_call_are_all_there_once,
        a_key_is_free_again_after_the_end,
    }
}

const ROWS: &str = "SELECT count(*) FROM gen_durable";

/// O-07. Two processes, twenty-five starts each.
async fn of_fifty_starts_of_one_key_at_once_one_wins_and_all_learn_who(db: Db) {
    let options = WorkerOptions::new(env!("CARGO_BIN_EXE_suite-worker"), &db).with("SUITE_STARTS", 25);
    let mut two = [options.with("SUITE_POOL", 25).spawn().await, {
        let options = WorkerOptions::new(env!("CARGO_BIN_EXE_suite-worker"), &db).with("SUITE_STARTS", 25);
        options.with("SUITE_POOL", 25).spawn().await
    }];
    let rounds = size(200);
    for key in 0..rounds {
        for process in &mut two {
            process.tell(&key.to_string()).await;
        }
        let (mut new, mut duplicate, mut occupants) = (0, 0, Vec::new());
        for process in &mut two {
            let line = process.line().await.expect("an answer");
            let words: Vec<&str> = line.split(' ').collect();
            new += words[0].parse::<u32>().expect("a number");
            duplicate += words[1].parse::<u32>().expect("a number");
            assert_eq!(words[2], "0", "an untyped error: {line}");
            occupants.push(words[3].to_owned());
        }
        assert_eq!((new, duplicate), (1, 49));
        assert_eq!(occupants[0], occupants[1], "one occupant, named to all");
    }
    assert_eq!(db.count(ROWS).await, i64::try_from(rounds).expect("small"));
}

/// O-09. Ten thousand items, five of them with a key that is taken, by a row or by an item before.
async fn a_batch_says_which_item_is_a_duplicate_and_of_whom(db: Db) {
    let client = client(&db).await;
    let live = ["live-0", "live-1", "live-2"].map(|name| start(Name { name: name.into() }));
    let live = client.start_many(live).await.expect("starts");
    let mut names: Vec<String> = (0..10_000).map(|n| format!("name-{n}")).collect();
    for (position, name) in [(17, "live-0"), (5_000, "live-1"), (9_999, "live-2"), (40, "name-3"), (9_000, "name-2")] {
        names[position] = name.into();
    }
    let batch = || names.iter().map(|name| start(Name { name: name.clone() }));
    let answers = client.start_many(batch()).await.expect("starts");
    assert_eq!(answers.len(), 10_000);
    let duplicates: Vec<usize> = (0..10_000).filter(|&at| !answers[at].is_new()).collect();
    assert_eq!(duplicates, [17, 40, 5_000, 9_000, 9_999]);
    assert_eq!(
        [17, 5_000, 9_999, 40, 9_000].map(|at| answers[at].id()),
        [live[0].id(), live[1].id(), live[2].id(), answers[3].id(), answers[2].id()]
    );
    assert_eq!(db.count(ROWS).await, 3 + 9_995);
    // Every id stands for its own input.
    let stored = db.text("SELECT string_agg(id || ' ' || (state ->> 'name'), ',') FROM gen_durable").await;
    let stored: HashMap<&str, &str> = stored.split(',').filter_map(|row| row.split_once(' ')).collect();
    for (id, name) in ids(&answers).iter().zip(&names) {
        assert_eq!(stored.get(id.to_string().as_str()), Some(&name.as_str()));
    }
}

/// O-09.
async fn an_invalid_item_is_named_by_its_position_and_nothing_is_started(db: Db) {
    let client = client(&db).await;
    for (bad, problem) in [("a\0b".to_owned(), "NUL"), ("x".repeat(1_001), "at most 1000")] {
        let names = (0..10_000).map(|n| if n == 7_123 { bad.clone() } else { format!("name-{n}") });
        let error = client.start_many(names.map(|name| start(Name { name }))).await.expect_err("refused");
        assert!(error.is_invalid(), "{error}");
        let text = error.to_string();
        assert!(text.contains("(item 7123)") && text.contains(problem) && !text.contains("xxxx"), "{text}");
    }
    assert_eq!(db.count(ROWS).await, 0);
}

/// O-10.
async fn a_hundred_thousand_starts_in_one_call_are_all_there_once(db: Db) {
    let client = client(&db).await;
    for many in [6_000, 100_000] {
        let answers = client.start_many((0..many).map(|_| start(Run { millis: 0, steps: 1 }))).await.expect("starts");
        let mut ids = ids(&answers);
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), many);
        assert!(answers.iter().all(|a| a.is_new()));
        assert_eq!(
            db.count_of("SELECT count(*) FROM gen_durable WHERE id = ANY ($1)", &ids).await,
            i64::try_from(many).expect("small")
        );
    }
    assert_eq!(db.count(ROWS).await, 106_000);
    assert!(client.start_many(Vec::<gen_durable::Start<Timed>>::new()).await.expect("nothing to do").is_empty());
}

/// O-10.
async fn seventy_thousand_signals_in_one_call_are_all_there_once(db: Db) {
    let client = client(&db).await;
    let within = Duration::from_secs(3_600);
    let targets = client.start_many((0..700).map(|_| start(Patience { within }))).await.expect("starts");
    let many = size(70_000);
    let signals = (0..many).map(|n| {
        let handle = client.by_id::<Timed>(targets[n % 700].id());
        handle.signal(Go { n: u32::try_from(n).expect("small") })
    });
    let answers = client.signal_many(signals).await.expect("delivers");
    assert_eq!(answers.len(), many);
    assert!(answers.iter().enumerate().all(|(n, a)| *a == Delivered::New(targets[n % 700].id())), "in order");
    let distinct = "SELECT count(DISTINCT payload ->> 'n') FROM signals";
    assert_eq!(db.count(distinct).await, i64::try_from(many).expect("small"));
    assert_eq!(db.count("SELECT count(*) FROM signals").await, i64::try_from(many).expect("small"));
}

/// O-07: a key is free again once its instance has ended, and was never a lock on others.
async fn a_key_is_free_again_after_the_end(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let worker = super::worker(&db.url, &db.effects_url()).await;
    let fall = || start(Fall { name: 42, slot: 42, then: Then::Done });
    let first = client.start(fall()).await.expect("starts");
    first.wait().timeout(Duration::from_secs(10)).await.expect("ends");
    let second = client.start(fall()).await.expect("starts");
    assert!(second.is_new() && second.id() != first.id());
    second.wait().timeout(Duration::from_secs(10)).await.expect("ends");
    worker.stop().await;
}
