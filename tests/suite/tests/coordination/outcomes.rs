//! What an outcome does beside its own row: all of it, once, or nothing.

use std::time::Duration;

use gen_durable::start;
use suite::{Db, nothing_lost};

use crate::{
    Work,
    machines::{Green, Hear, Hush, Proclaim, Red, Single, Tell, Three, Waits},
};

suite::stores! {
    both(flavor = "multi_thread", worker_threads = 2) {
        an_outcome_starts_others_and_signals_them_exactly_once,
        a_signal_to_nobody_does_not_fail_its_outcome,
        a_signal_of_an_outcome_with_a_dedup_key_is_heard_once_in_the_life_of_its_target,
        a_dedup_key_that_cannot_be_is_an_error_of_its_step,
        every_run_leaves_a_line_that_says_where_it_went_and_why,
        old_lines_are_forgotten_and_young_ones_stay,
    }
}

const LONG: Duration = Duration::from_secs(60);

async fn an_outcome_starts_others_and_signals_them_exactly_once(db: Db) {
    let work = Work::on(&db).await;
    let three = work.client.start(start(Three { name: "a".into(), patience: LONG })).await.expect("starts");
    let teller = work.client.start(start(Tell { to: "a".into(), fails: 2 })).await.expect("starts");
    assert_eq!(teller.wait().timeout(LONG).await.expect("ends"), 1);
    // Two came of three runs, so the third one that is waited for ends it.
    work.client.of::<Waits>("a").signal(Red { n: 9 }).await.expect("delivers");
    assert_eq!(three.wait().timeout(LONG).await.expect("ends"), "7 8 9");
    let single = work.client.list(gen_durable::Filter::default().machine("single")).await.expect("lists");
    assert_eq!(single.len(), 1);
    let _ = std::any::type_name::<Single>();
    nothing_lost(&db, &[teller.id().expect("known")]).await;
    work.stop().await;
}

async fn a_signal_to_nobody_does_not_fail_its_outcome(db: Db) {
    let work = Work::on(&db).await;
    let teller = work.client.start(start(Tell { to: "nobody".into(), fails: 0 })).await.expect("starts");
    assert_eq!(teller.wait().timeout(LONG).await.expect("ends"), 1);
    work.stop().await;
}

async fn a_signal_of_an_outcome_with_a_dedup_key_is_heard_once_in_the_life_of_its_target(db: Db) {
    let work = Work::on(&db).await;
    let crowd = work.client.start(start(Hear { name: "c".into(), heard: vec![] })).await.expect("starts");
    let herald = async |n: u32, key: &str, children: u64| {
        let told = Proclaim { to: "c".into(), n, key: key.into(), children };
        let herald = work.client.start(start(told)).await.expect("starts");
        herald.wait().timeout(LONG).await.expect("ends")
    };
    assert_eq!(herald(1, "news", 0).await, 0);
    // It is heard, and consumed: its key protects on.
    suite::eventually("it is heard", LONG, async || {
        db.count("SELECT count(*) FROM signals WHERE consumed_at IS NOT NULL").await == 1
    })
    .await;
    assert_eq!(herald(2, "news", 0).await, 0);
    assert_eq!(herald(3, "news", 2).await, 2, "the rest of the outcome holds");
    let again = crowd.signal(Red { n: 4 }).dedup("news").await.expect("answers");
    assert!(again.duplicate, "a key is one, whichever way it came");
    assert_eq!(herald(5, "more", 1).await, 1);
    // And the other way round.
    crowd.signal(Red { n: 6 }).dedup("last").await.expect("delivers");
    assert_eq!(herald(7, "last", 0).await, 0);
    crowd.signal(Green {}).await.expect("delivers");
    assert_eq!(crowd.wait().timeout(LONG).await.expect("ends"), [1, 5, 6]);
    nothing_lost(&db, &[crowd.id().expect("known")]).await;
    work.stop().await;
}

async fn a_dedup_key_that_cannot_be_is_an_error_of_its_step(db: Db) {
    let work = Work::on(&db).await;
    let told = Proclaim { to: "c".into(), n: 1, key: String::new(), children: 0 };
    let herald = work.client.start(start(told)).await.expect("starts");
    let failed = herald.wait().timeout(LONG).await.expect_err("it cannot be stored").to_string();
    assert!(failed.contains("dedup key is empty"), "{failed}");
    work.stop().await;
}

async fn every_run_leaves_a_line_that_says_where_it_went_and_why(db: Db) {
    let work = Work::on(&db).await;
    let teller = work.client.start(start(Tell { to: "nobody".into(), fails: 1 })).await.expect("starts");
    teller.wait().timeout(LONG).await.expect("ends");
    let history = teller.history().await.expect("its history");
    let lines: Vec<_> = history
        .iter()
        .map(|h| (h.visit, h.from.as_str(), h.to.as_deref(), h.outcome.as_str(), h.attempt, h.error.as_deref()))
        .collect();
    assert_eq!(
        lines,
        [
            (0, "tell", None, "retry", 0, Some("not yet")),
            (0, "tell", Some("told"), "goto", 1, None),
            (1, "told", None, "done", 0, None),
        ]
    );
    for line in &history {
        assert!(line.worker.is_some() && line.started_at <= line.committed_at, "{line:?}");
    }
    assert!(history.windows(2).all(|w| w[0].committed_at <= w[1].committed_at));
    let silent = work.client.start(start(Hush { n: 1 })).await.expect("starts");
    silent.wait().timeout(LONG).await.expect("ends");
    assert_eq!(silent.history().await.expect("its history"), []);
    work.stop().await;
}

async fn old_lines_are_forgotten_and_young_ones_stay(db: Db) {
    let work = Work::on(&db).await;
    let teller = work.client.start(start(Tell { to: "nobody".into(), fails: 0 })).await.expect("starts");
    teller.wait().timeout(LONG).await.expect("ends");
    // Two of its own, and one of whom it spawned, which ends in its own time.
    let all = async || db.count("SELECT count(*) FROM gen_durable_history").await == 3;
    suite::eventually("each has left its lines", LONG, all).await;
    assert_eq!(db.store.forget(LONG, 10).await.expect("looks"), 0);
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(db.store.forget(Duration::from_millis(1), 1).await.expect("forgets"), 1);
    assert_eq!(teller.history().await.expect("its history").len(), 1);
    // Its own, and that of the instance it started.
    assert_eq!(db.store.forget(Duration::from_millis(1), 10).await.expect("forgets"), 2);
    assert_eq!(teller.history().await.expect("its history"), []);
    work.stop().await;
}
