//! Queues that are paused.

use std::time::{Duration, Instant};

use gen_durable::{Status, Target, start};
use suite::{Db, eventually};

use crate::{LONG, Mail, Pace, Post, Work, time};

suite::stores! {
    both(flavor = "multi_thread", worker_threads = 2) {
        serial_a_paused_queue_is_left_alone_by_every_worker_within_100_ms_and_goes_on_at_once,
        what_runs_in_a_queue_that_is_paused_ends_its_step_and_goes_no_further_in_place,
        a_pause_outlives_restarts,
        a_cancel_in_a_paused_queue_is_honoured_once_it_goes_on,
        a_worker_that_nobody_tells_finds_a_pause_by_its_poll,
    }
}

const WALKED: &str = "SELECT coalesce(sum(transitions), 0)::bigint FROM gen_durable WHERE queue = 'walk'";
const EXECUTING: &str = "SELECT count(*) FROM gen_durable WHERE status = 'executing'";

async fn serial_a_paused_queue_is_left_alone_by_every_worker_within_100_ms_and_goes_on_at_once(db: Db) {
    let (one, two) = (Work::on(&db).await, Work::on(&db).await);
    let mails = || one.desk.seen("mail").ended + two.desk.seen("mail").ended;
    one.client.start_many((0..2_000).map(|_| Mail::start(10))).await.expect("starts");
    eventually("both work", LONG, async || one.desk.seen("mail").ended > 9 && two.desk.seen("mail").ended > 9).await;
    assert!(one.client.pause_queue("mail").await.expect("pauses"));
    tokio::time::sleep(Duration::from_millis(150)).await;
    let before = mails();
    assert!(before < 2_000);
    // A second queue of the same workers goes on, and so do starts.
    one.client.start(Post::start(0)).await.expect("starts").wait().timeout(LONG).await.expect("ends");
    one.client.start(Mail::start(0)).await.expect("starts");
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert_eq!((mails(), db.count(EXECUTING).await), (before, 0), "after 100 ms and the 10 ms of a step nothing runs");
    assert!(!two.client.pause_queue("mail").await.expect("is paused"));
    assert!(two.client.resume_queue("mail").await.expect("resumes"));
    let took = time("it goes on", async || mails() > before).await;
    assert!(took < Duration::from_millis(500), "told, not polled: {took:?}");
    let done = "SELECT count(*) FROM gen_durable WHERE queue = 'mail' AND status <> 'done'";
    eventually("all are done", LONG, async || db.count(done).await == 0).await;
    one.stop().await;
    two.stop().await;
}

async fn what_runs_in_a_queue_that_is_paused_ends_its_step_and_goes_no_further_in_place(db: Db) {
    let work = Work::on(&db).await;
    let walk = work.client.start(start(Pace { left: 40, ms: 50 })).await.expect("starts");
    eventually("it walks in place", LONG, async || db.count(WALKED).await >= 3).await;
    work.client.pause_queue("walk").await.expect("pauses");
    eventually("it stands", LONG, async || db.count(EXECUTING).await == 0).await;
    let walked = db.count(WALKED).await;
    assert!((3..10).contains(&walked), "{walked}");
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(db.count(WALKED).await, walked);
    let shown = work.client.show(&Target::Id(walk.id().expect("known"))).await.expect("stands");
    assert_eq!((shown.status, shown.attempt), (Status::Runnable, 0), "no step of it was cut short");
    work.client.resume_queue("walk").await.expect("resumes");
    walk.wait().timeout(LONG).await.expect("ends");
    assert_eq!(work.desk.seen("walk").ended, 41, "each pace once");
    work.stop().await;
}

async fn a_pause_outlives_restarts(db: Db) {
    let work = Work::on(&db).await;
    work.client.pause_queue("mail").await.expect("pauses");
    work.stop().await;
    let work = Work::on(&db).await;
    let mail = work.client.start(Mail::start(0)).await.expect("starts");
    let post = work.client.start(Post::start(0)).await.expect("starts");
    post.wait().timeout(LONG).await.expect("ends");
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(work.desk.seen("mail").ended, 0);
    work.client.resume_queue("mail").await.expect("resumes");
    mail.wait().timeout(LONG).await.expect("ends");
    work.stop().await;
}

async fn a_cancel_in_a_paused_queue_is_honoured_once_it_goes_on(db: Db) {
    let work = Work::on(&db).await;
    let running = work.client.start(start(Pace { left: 0, ms: 60_000 })).await.expect("starts");
    eventually("it runs", LONG, async || work.desk.seen("walk").now == 1).await;
    work.client.pause_queue("walk").await.expect("pauses");
    let due = work.client.start(start(Pace { left: 0, ms: 0 })).await.expect("starts");
    due.cancel("not now").await.expect("asks");
    // A run that is under way is told, and dropped after its grace; its exit is no step in place.
    running.cancel("not now").await.expect("asks");
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(work.desk.seen("aside").ended, 0);
    work.client.resume_queue("walk").await.expect("resumes");
    due.wait().timeout(LONG).await.expect("ends by its side door");
    running.wait().timeout(LONG).await.expect("ends by its side door");
    assert_eq!(work.desk.seen("aside").ended, 2);
    work.stop().await;
}

async fn a_worker_that_nobody_tells_finds_a_pause_by_its_poll(db: Db) {
    let work = Work::told(&db, |worker| worker.poll(Duration::from_millis(200))).await.expect("starts");
    // Written behind its back: nobody says a word. The floor under lost wake-ups is five seconds, or the poll where nobody listens.
    db.run("INSERT INTO gen_durable_queues (queue, paused_at) VALUES ('mail', now())").await;
    let began = Instant::now();
    loop {
        let mail = work.client.start(Mail::start(0)).await.expect("starts");
        if mail.wait().timeout(Duration::from_millis(1_500)).await.is_err() {
            break;
        }
        assert!(began.elapsed() < LONG, "never found");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    db.run("DELETE FROM gen_durable_queues").await;
    let left = "SELECT count(*) FROM gen_durable WHERE status <> 'done'";
    eventually("it goes on", LONG, async || db.count(left).await == 0).await;
    work.stop().await;
}
