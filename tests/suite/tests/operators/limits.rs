//! Limits, as operators and builders say them.

use std::time::Duration;

use gen_durable::{LimitKind, LimitTerms, SetBy, Worker};
use suite::{Db, eventually};

use crate::{Door, Drip, LONG, Lock, Pass, Slow, Turn, Work, time};

suite::stores! {
    both(flavor = "multi_thread", worker_threads = 2) {
        what_an_operator_sets_counts_at_once_and_for_all_workers,
        what_an_operator_sets_outlives_boots_and_a_reset_leaves_it_to_the_code,
        terms_under_which_nothing_could_pass_are_refused_and_change_nothing,
        a_limit_is_shown_with_its_busiest_keys_and_who_waits,
        the_builder_speaks_before_the_type_and_an_operator_before_the_builder,
        a_worker_whose_terms_cannot_be_does_not_start,
    }
}

const DONE: &str = "SELECT count(*) FROM gen_durable WHERE status = 'done'";

async fn what_an_operator_sets_counts_at_once_and_for_all_workers(db: Db) {
    let (work, other) = (Work::on(&db).await, Work::on(&db).await);
    // One at once by the type, for ten seconds each.
    work.client.start_many((0..12).map(|_| Pass::start(1, 10_000))).await.expect("starts");
    let running = "SELECT count(*) FROM gen_durable WHERE status = 'executing'";
    let aside = "SELECT count(*) FROM gen_durable WHERE blocked_by = 'key:door:1'";
    eventually("one runs", LONG, async || db.count(running).await == 1 && db.count(aside).await == 11).await;
    other.client.gate::<Door>().expect("a gate").set(LimitTerms::slots(9)).await.expect("sets");
    let took = time("nine run", async || db.count(running).await == 9).await;
    assert!(took < Duration::from_secs(3), "it was told, not found: {took:?}");
    other.client.gate::<Door>().expect("a gate").set(LimitTerms::slots(2)).await.expect("sets");
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(db.count(running).await, 9, "what runs goes on");
    // A rate limit as well: four tokens, two each, then one an hour.
    work.client.start_many((0..6).map(|_| Drip::start(1))).await.expect("starts");
    eventually("two pass", LONG, async || db.count(DONE).await == 2).await;
    let quick = LimitTerms::rate(1_000, Duration::from_secs(1)).burst(100);
    work.client.rate_limit::<Slow>().set(quick).await.expect("sets");
    let took = time("all pass", async || db.count(DONE).await == 6).await;
    assert!(took < Duration::from_secs(3), "{took:?}");
    work.stop().await;
    other.stop().await;
}

async fn what_an_operator_sets_outlives_boots_and_a_reset_leaves_it_to_the_code(db: Db) {
    let work = Work::on(&db).await;
    let door = || work.client.gate::<Door>().expect("a gate");
    assert_eq!(door().show().await.expect("looks").map(|l| (l.slots, l.set_by)), Some((Some(1.0), SetBy::Code)));
    door().set(LimitTerms::slots(5)).await.expect("sets");
    Work::on(&db).await.stop().await;
    let shown = door().show().await.expect("looks").expect("it stands");
    assert_eq!((shown.slots, shown.set_by, shown.in_code), (Some(5.0), SetBy::Operator, true));
    door().reset().await.expect("resets");
    let shown = door().show().await.expect("looks").expect("it stands");
    assert_eq!((shown.slots, shown.set_by), (Some(1.0), SetBy::Code));
    work.stop().await;
}

async fn terms_under_which_nothing_could_pass_are_refused_and_change_nothing(db: Db) {
    let work = Work::on(&db).await;
    let slow = work.client.rate_limit::<Slow>();
    let before = work.client.limits().await.expect("looks");
    let text = slow.set(LimitTerms::default().burst(1)).await.expect_err("refused").to_string();
    assert!(text.contains("`run` of `drip` takes 2 at once: it needs a burst of 2"), "{text}");
    let text = slow.set(LimitTerms::default().shards(3)).await.expect_err("refused").to_string();
    assert!(text.contains("it needs a burst of 6"), "{text}");
    let text = slow.set(LimitTerms::slots(3)).await.expect_err("refused").to_string();
    assert!(text.contains("is a rate limit"), "{text}");
    let text = work.client.limit("slwo", None).expect_err("refused").to_string();
    assert!(text.ends_with("did you mean `slow`?"), "{text}");
    let text = work.client.limit("door", Some(LimitKind::Rate)).expect_err("refused").to_string();
    assert!(text.contains("is a gate"), "{text}");
    let text = work.client.gate::<Lock>().expect_err("refused").to_string();
    assert!(text.contains("one executes at a time") && text.contains("`limit`"), "{text}");
    assert_eq!(work.client.limits().await.expect("looks"), before);
    // What can be, can.
    work.client.limit("slow", None).expect("known").set(LimitTerms::default().burst(6).shards(3)).await.expect("sets");
    work.stop().await;
}

async fn a_limit_is_shown_with_its_busiest_keys_and_who_waits(db: Db) {
    let work = Work::on(&db).await;
    work.client.start_many((0..5).map(|_| Drip::start(1))).await.expect("starts");
    work.client.start_many([Drip::start(2)]).await.expect("starts");
    work.client.start_many((0..3).map(|_| Pass::start(7, 10_000))).await.expect("starts");
    // A key of which one executes at a time is no limit, and shown nowhere.
    work.client.start_many((0..3).map(|_| Turn::start(7, 10_000))).await.expect("starts");
    let aside = "SELECT count(*) FROM gen_durable WHERE blocked_by IN ('rate:slow:1', 'key:door:7')";
    eventually("three and two wait", LONG, async || db.count(aside).await == 5).await;
    let limits = work.client.limits().await.expect("looks");
    let names: Vec<(&str, &str)> = limits.iter().map(|l| (l.kind, l.name.as_str())).collect();
    assert_eq!(names, [("gate", "door"), ("rate", "slow"), ("rate", "tokens")]);
    let (door, slow) = (&limits[0], &limits[1]);
    assert_eq!((door.waiting, slow.waiting, limits[2].waiting), (2, 3, 0));
    let keys = |l: &gen_durable::LimitSnapshot| {
        l.keys.iter().map(|k| (k.key.clone(), k.used.round(), k.waiting)).collect::<Vec<_>>()
    };
    assert_eq!(keys(door), [("door:7".to_owned(), 1.0, 2)]);
    assert_eq!(keys(slow), [("slow:1".to_owned(), 4.0, 3), ("slow:2".to_owned(), 2.0, 0)]);
    work.stop().await;
}

async fn the_builder_speaks_before_the_type_and_an_operator_before_the_builder(db: Db) {
    let told = |worker: Worker| {
        let wide = LimitTerms::slots(3);
        worker.gate::<Door>(wide).rate_limit::<Slow>(LimitTerms::default().burst(9)).gate::<Door>(wide.shards(3))
    };
    let work = Work::told(&db, told).await.expect("starts");
    let limits = work.client.limits().await.expect("looks");
    assert_eq!((limits[0].slots, limits[0].shards, limits[0].set_by), (Some(3.0), 3, SetBy::Code));
    assert_eq!(limits[1].burst, Some(9.0));
    let per_hour = limits[1].per_second.expect("a rate") * 3_600.0;
    assert!((per_hour - 1.0).abs() < 1e-9, "what is not said stays: {per_hour}");
    work.client.gate::<Door>().expect("a gate").set(LimitTerms::slots(4).shards(1)).await.expect("sets");
    work.stop().await;
    let work = Work::told(&db, told).await.expect("starts");
    let limits = work.client.limits().await.expect("looks");
    assert_eq!((limits[0].slots, limits[0].shards, limits[0].set_by), (Some(4.0), 1, SetBy::Operator));
    work.stop().await;
}

async fn a_worker_whose_terms_cannot_be_does_not_start(db: Db) {
    let cases: [(crate::Tell, &str); 5] = [
        (|w| w.rate_limit::<Slow>(LimitTerms::default().burst(1)), "`run` of `drip` takes 2 at once"),
        (|w| w.gate::<Door>(LimitTerms::slots(2).shards(3)), "each needs at least one"),
        (|w| w.gate::<Lock>(LimitTerms::slots(2)), "`lock` has no limit of its own to change"),
        (
            |w| w.rate_limit::<crate::Spent>(LimitTerms::default().burst(2)),
            "`spent`, which no machine served here names",
        ),
        (|w| w.concurrency(4).weight("defualt", 2), "did you mean `default`?"),
    ];
    for (tell, text) in cases {
        let refused = Work::told(&db, tell).await.err().expect(text).to_string();
        assert!(refused.contains(text), "{refused}");
    }
    assert_eq!(db.count("SELECT count(*) FROM gen_durable_bucket_configs").await, 0);
}
