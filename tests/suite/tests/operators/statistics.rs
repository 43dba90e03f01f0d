//! What `queues` says: O-52, a queue that is stuck is told from one that is idle; O-53, and what that costs.

use std::time::{Duration, Instant};

use gen_durable::{Client, QueueSnapshot};
use suite::{Db, eventually, size};

use crate::{Drip, LONG, Pass, Work};

suite::stores! {
    both(flavor = "multi_thread", worker_threads = 2) {
        what_a_queue_waits_for_is_told_apart,
        queues_are_counted_within_a_second_whatever_has_ended,
    }
}

async fn queue(client: &Client, name: &str) -> QueueSnapshot {
    let all = client.queues().await.expect("looks");
    all.into_iter().find(|queue| queue.name == name).expect("it is named")
}

async fn what_a_queue_waits_for_is_told_apart(db: Db) {
    let work = Work::on(&db).await;
    let client = &work.client;
    let idle = queue(client, "mail").await;
    assert_eq!((idle.due, idle.running, idle.oldest_due, idle.paused, idle.at_least), (0, 0, None, None, false));
    client.start_many((0..3).map(|_| Pass::start(1, 20_000))).await.expect("starts");
    client.start_many((0..4).map(|_| Drip::start(1))).await.expect("starts");
    let aside = "SELECT count(*) FROM gen_durable WHERE blocked_by IS NOT NULL";
    eventually("two and two are set aside", LONG, async || db.count(aside).await == 4).await;
    // Nobody runs `chekout`; of the default queue some are due later, or wait for signals or children.
    let later = "now() + interval '1 h'";
    let rows = [
        ("chekout", "runnable", "now() - interval '90 s'", 2),
        ("chekout", "runnable", later, 1),
        ("default", "runnable", later, 5),
        ("default", "awaiting_signal", later, 3),
        ("default", "awaiting_children", later, 1),
    ];
    for (queue, status, at, n) in rows {
        for _ in 0..n {
            db.run(format!(
                "INSERT INTO gen_durable (fsm, step, queue, status, eligible_at) VALUES ('m', 'a', '{queue}', '{status}', {at})"
            ))
            .await;
        }
    }
    client.pause_queue("mail").await.expect("pauses");
    let default = queue(client, "default").await;
    assert_eq!((default.running, default.parked, default.waiting_for_limit, default.scheduled), (1, 4, 4, 5));
    assert_eq!((default.due, default.waiting_for_code), (0, 0));
    let stuck = queue(client, "chekout").await;
    assert_eq!((stuck.due, stuck.running, stuck.scheduled, stuck.waiting_for_limit), (2, 0, 1, 0));
    let age = jiff::Timestamp::now().duration_since(stuck.oldest_due.expect("the oldest")).as_secs();
    assert!((85..200).contains(&age), "{age}");
    assert!(queue(client, "mail").await.paused.is_some());
    work.stop().await;
}

async fn queues_are_counted_within_a_second_whatever_has_ended(db: Db) {
    let (ended, live) = (size(1_000_000), size(10_000));
    let fill = |status: &str, n: usize| {
        format!(
            "INSERT INTO gen_durable (fsm, step, queue, status, eligible_at)
             SELECT 'm', 'a', 'q' || (n % 7), '{status}', now() FROM generate_series(1, {n}) n"
        )
    };
    db.run(fill("done", ended)).await;
    db.run(fill("runnable", live)).await;
    db.run("ANALYZE gen_durable").await;
    let client = Client::on(suite::store_options(&db.url).open().expect("a store"));
    for _ in 0..3 {
        let began = Instant::now();
        let due: u64 = client.queues().await.expect("looks").iter().map(|queue| queue.due).sum();
        let limits = client.limits().await.expect("looks");
        let took = began.elapsed();
        println!("{ended} ended, {live} due: {took:?}");
        assert_eq!((due, limits.len()), (live as u64, 0));
        assert!(took < Duration::from_secs(1), "{took:?}");
    }
}
