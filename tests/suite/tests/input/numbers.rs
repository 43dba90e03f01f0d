//! Small numbers at their ends.

use std::time::Duration;

use gen_durable::{Client, Filter, Worker, start};
use suite::Db;

use super::{LIMIT, Letter, Post, client, letter};

suite::stores! {
    both {
        every_priority_of_its_type_is_kept_and_ordered,
        settings_that_would_stall_or_spin_are_refused_at_boot,
        the_smallest_and_the_largest_settings_that_are_allowed_work,
    }
}

/// O-58. The type is the column's: nothing wraps.
async fn every_priority_of_its_type_is_kept_and_ordered(db: Db) {
    let client = client(&db).await;
    for priority in [i16::MAX, 0, i16::MIN] {
        let name = priority.to_string();
        client.start(start(letter(&name)).priority(priority)).await.expect("starts");
    }
    let order = "SELECT string_agg(priority::text, ' ' ORDER BY priority) FROM gen_durable";
    assert_eq!(db.text(order).await, "-32768 0 32767");
    let worker = Worker::new(client.clone()).handler(Post).queue("default", 1).start().await.expect("starts");
    for priority in [i16::MAX, 0, i16::MIN] {
        let handle = client.of::<Letter>(priority.to_string());
        let _ = handle.wait().timeout(LIMIT).await;
    }
    let ended = "SELECT string_agg(priority::text, ' ' ORDER BY updated_at) FROM gen_durable WHERE status = 'done'";
    assert_eq!(db.text(ended).await, "-32768 0 32767", "the most urgent first");
    worker.stop().await;
}

async fn refused(client: &Client, change: impl FnOnce(Worker) -> Worker) -> String {
    let worker = change(Worker::new(client.clone()).handler(Post));
    let error = worker.start().await.expect_err("it does not start");
    assert!(error.is_invalid(), "{error}");
    error.to_string()
}

/// O-58. Each is named with its range at boot; none is a busy loop.
async fn settings_that_would_stall_or_spin_are_refused_at_boot(db: Db) {
    let client = client(&db).await;
    let zero = Duration::ZERO;
    assert_eq!(refused(&client, |w| w.queue("default", 0)).await, "queue default runs 1 to 100,000 steps at once");
    assert_eq!(
        refused(&client, |w| w.queue("default", usize::MAX)).await,
        "queue default runs 1 to 100,000 steps at once"
    );
    assert_eq!(refused(&client, |w| w.batch(0)).await, "batch is 1 to 10,000 rows");
    assert_eq!(refused(&client, |w| w.batch(u32::MAX)).await, "batch is 1 to 10,000 rows");
    assert_eq!(refused(&client, |w| w.poll(zero)).await, "poll is 0ns: 10 ms to 100 years are allowed");
    assert_eq!(refused(&client, |w| w.lease(zero)).await, "lease is 0ns: 10 ms to 100 years are allowed");
    assert_eq!(refused(&client, |w| w.sweep(zero)).await, "sweep is 0ns: 10 ms to 100 years are allowed");
    assert!(refused(&client, |w| w.lease(Duration::MAX)).await.ends_with("10 ms to 100 years are allowed"));
    assert!(refused(&client, |w| w.poll(Duration::MAX)).await.ends_with("10 ms to 100 years are allowed"));
    for (name, problem) in [("", "is empty"), ("a\0", "control"), ("a:b", "`:`")] {
        assert!(refused(&client, |w| w.queue(name, 1)).await.contains(problem), "{name:?}");
    }
}

/// O-58. Ends that are allowed work.
async fn the_smallest_and_the_largest_settings_that_are_allowed_work(db: Db) {
    let tiny = Client::options(&db.url).pool_size(0).connect().await.expect("connects with at least two");
    let worker = Worker::new(tiny.clone()).handler(Post).queue("default", 1).batch(1).steps_in_place(0);
    let times = Duration::from_millis(10);
    let worker = worker.poll(times).sweep(times).lease(Duration::from_millis(300)).drain(Duration::ZERO);
    let worker = worker.start().await.expect("starts");
    for n in 0..5 {
        let handle = tiny.start(start(letter(&n.to_string()))).await.expect("starts");
        handle.wait().timeout(LIMIT).await.expect("ends");
    }
    worker.stop().await;
    let large = Worker::new(client(&db).await).handler(Post).queue("default", 100_000).batch(10_000);
    let century = Duration::from_secs(100 * 31_536_000);
    let large = large.lease(century).poll(century).sweep(century).drain(Duration::MAX).steps_in_place(u32::MAX);
    let large = large.start().await.expect("starts");
    let handle = tiny.start(start(letter("last"))).await.expect("starts");
    handle.wait().timeout(LIMIT).await.expect("ends");
    large.stop().await;
    let page = tiny.list(Filter::default().limit(u32::MAX)).await.expect("a page");
    assert_eq!(page.len(), 6);
}
