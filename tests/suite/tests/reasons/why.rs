//! Every reason, told.

use std::time::Duration;

use gen_durable::{Handle, Machine, Reason, Startable, Status, start};
use gen_durable_runtime::client::Client;
use suite::{Db, eventually};

use crate::{Broken, Drip, ForMoney, ForTime, Pass, Plain, Split, Turn, Waiting, client, hands};

suite::stores! {
    both(flavor = "multi_thread", worker_threads = 2) {
        without_a_worker_that_is_the_reason,
        one_that_waits_for_its_time_says_when,
        one_that_waits_for_a_key_says_who_has_it,
        one_that_waits_for_a_token_says_when_it_comes,
        one_that_waits_for_signals_or_children_says_for_which,
        a_paused_queue_and_one_that_nobody_serves_are_said,
        what_nothing_keeps_is_due_and_what_runs_or_ended_says_so,
    }
}

const LONG: Duration = Duration::from_secs(30);
const HOUR: u64 = 3_600_000;

async fn begin<S: Startable>(client: &Client, what: S) -> Handle<S::Machine> {
    let started = client.start(what).await.expect("starts");
    client.by_id(started.id().expect("known"))
}

async fn why<M: Machine>(of: &Handle<M>) -> Vec<Reason> {
    of.why().await.expect("tells")
}

/// Waits until this is the only reason.
async fn eventually_why<M: Machine>(of: &Handle<M>, is: impl Fn(&Reason) -> bool) -> Reason {
    eventually("the reason", LONG, async || matches!(why(of).await.as_slice(), [one] if is(one))).await;
    why(of).await.remove(0)
}

async fn without_a_worker_that_is_the_reason(db: Db) {
    let client = client(&db);
    let one = begin(&client, Plain::start(0)).await;
    let step = one.show().await.expect("shows").step;
    let expected = Reason::NoWorker { machine: "plain".into(), version: 1, step };
    assert_eq!(why(&one).await, [expected]);
    // One that was killed says nothing, and counts for a while.
    let worker = hands(&client, "elsewhere", 1).await;
    eventually_why(&one, |r| matches!(r, Reason::QueueUnserved { queue } if queue == "default")).await;
    assert_eq!(client.workers().await.expect("reads").len(), 1);
    db.run("UPDATE gen_durable_workers SET seen_at = seen_at - interval '31 min'").await;
    eventually_why(&one, |r| matches!(r, Reason::NoWorker { .. })).await;
    worker.stop().await;
    assert_eq!(client.workers().await.expect("reads"), []);
}

async fn one_that_waits_for_its_time_says_when(db: Db) {
    let client = client(&db);
    let worker = hands(&client, "default", 10).await;
    let later = begin(&client, Plain::start(0).delay(Duration::from_secs(3_600))).await;
    let at = later.show().await.expect("shows").eligible_at;
    eventually_why(&later, |r| *r == Reason::Later { at, after_attempts: 0 }).await;
    let broken = begin(&client, Broken::start(7)).await;
    eventually_why(&broken, |r| matches!(r, Reason::Later { after_attempts: 1, .. })).await;
    worker.stop().await;
}

async fn one_that_waits_for_a_key_says_who_has_it(db: Db) {
    let client = client(&db);
    let worker = hands(&client, "default", 10).await;
    let first = begin(&client, Turn::start(1, HOUR)).await;
    eventually_why(&first, |r| matches!(r, Reason::Running { until: Some(_), .. })).await;
    let second = begin(&client, Turn::start(1, 0)).await;
    let held_by = vec![first.id().expect("known")];
    let said = eventually_why(&second, |r| matches!(r, Reason::Key { .. })).await;
    assert_eq!(said, Reason::Key { key: "lock:1".into(), limit: None, held_by: held_by.clone() });
    assert_eq!(said.to_string(), format!("waits for key lock:1, held by instance {}", held_by[0]));
    let (one, two) = (begin(&client, Pass::start(5, HOUR)).await, begin(&client, Pass::start(5, HOUR)).await);
    for one in [&one, &two] {
        eventually_why(one, |r| matches!(r, Reason::Running { .. })).await;
    }
    let third = begin(&client, Pass::start(5, 0)).await;
    let mut ids = vec![one.id().expect("known"), two.id().expect("known")];
    ids.sort_unstable();
    let said = eventually_why(&third, |r| matches!(r, Reason::Key { .. })).await;
    assert_eq!(said, Reason::Key { key: "door:5".into(), limit: Some(2.0), held_by: ids });
    first.cancel("make room").await.expect("asks");
    second.wait().timeout(LONG).await.expect("ends");
    worker.stop().await;
}

async fn one_that_waits_for_a_token_says_when_it_comes(db: Db) {
    let client = client(&db);
    let worker = hands(&client, "default", 10).await;
    begin(&client, Drip::start(1)).await.wait().timeout(LONG).await.expect("ends");
    let second = begin(&client, Drip::start(2)).await;
    let said = eventually_why(&second, |r| matches!(r, Reason::Token { .. })).await;
    let at = second.show().await.expect("shows").eligible_at;
    let limit = db.text("SELECT rate_limit FROM gen_durable WHERE status = 'runnable'").await;
    assert_eq!(said, Reason::Token { limit, at });
    let unknown = begin(&client, Plain::start(0).delay(Duration::from_millis(300))).await;
    let id = unknown.id().expect("known");
    db.run(format!("UPDATE gen_durable SET rate_limit = 'elsewhere:1' WHERE id = {id}")).await;
    eventually_why(&unknown, |r| *r == Reason::UnknownLimit { name: "elsewhere".into() }).await;
    worker.stop().await;
}

async fn one_that_waits_for_signals_or_children_says_for_which(db: Db) {
    let client = client(&db);
    let worker = hands(&client, "default", 10).await;
    let money: Handle<Waiting> = begin(&client, start(ForMoney { n: 1 })).await;
    let both = ["paid".to_owned(), "refused".to_owned()];
    eventually_why(&money, |r| matches!(r, Reason::Signals { names, until: Some(_) } if *names == both)).await;
    let time = begin(&client, start(ForTime { n: 1 })).await;
    eventually_why(&time, |r| matches!(r, Reason::Timer { until: Some(_) } | Reason::Later { .. })).await;
    let split = begin(&client, start(Split { n: 1 })).await;
    eventually_why(&split, |r| *r == Reason::Children { started: 3, pending: 2, until: None }).await;
    worker.stop().await;
}

async fn a_paused_queue_and_one_that_nobody_serves_are_said(db: Db) {
    let client = client(&db);
    let worker = hands(&client, "default", 10).await;
    let elsewhere = begin(&client, Plain::start(0).queue("elsewhere")).await;
    let unserved = Reason::QueueUnserved { queue: "elsewhere".into() };
    eventually_why(&elsewhere, |r| *r == unserved).await;
    db.run("INSERT INTO gen_durable_queues (queue, paused_at) VALUES ('elsewhere', now())").await;
    let said = why(&elsewhere).await;
    assert!(matches!(&said[0], Reason::QueuePaused { queue, .. } if queue == "elsewhere"), "{said:?}");
    assert_eq!(said[1..], [unserved]);
    worker.stop().await;
}

async fn what_nothing_keeps_is_due_and_what_runs_or_ended_says_so(db: Db) {
    let client = client(&db);
    let worker = hands(&client, "default", 1).await;
    let first = begin(&client, Plain::start(HOUR)).await;
    eventually_why(&first, |r| matches!(r, Reason::Running { worker: Some(_), .. })).await;
    let second = begin(&client, Plain::start(0)).await;
    let since = second.show().await.expect("shows").eligible_at;
    assert_eq!(why(&second).await, [Reason::Due { since }]);
    first.cancel("make room").await.expect("asks");
    second.wait().timeout(LONG).await.expect("ends");
    assert_eq!(why(&second).await, [Reason::Ended]);
    assert_eq!(second.show().await.expect("shows").status, Status::Done);
    worker.stop().await;
}
