//! Places of a process that its queues share.

use std::time::Duration;

use suite::{Db, eventually};

use crate::{LONG, Mail, Plain, Post, Work};

suite::stores! {
    both(flavor = "multi_thread", worker_threads = 2) {
        queues_share_the_places_of_their_process_by_weight_while_all_have_work,
        no_place_is_idle_while_any_queue_has_work,
        no_queue_starves_where_there_are_fewer_places_than_queues,
    }
}

async fn queues_share_the_places_of_their_process_by_weight_while_all_have_work(db: Db) {
    let work = Work::told(&db, |w| w.concurrency(8).weight("post", 3)).await.expect("starts");
    work.client.start_many((0..600).map(|_| Post::start(40))).await.expect("starts");
    work.client.start_many((0..600).map(|_| Mail::start(40))).await.expect("starts");
    let ended = |name| work.desk.seen(name).ended;
    eventually("both work", LONG, async || ended("post") > 20 && ended("mail") > 5).await;
    let (posts, mails) = (ended("post"), ended("mail"));
    eventually("a while", LONG, async || ended("post") - posts >= 150).await;
    let (posts, mails) = (ended("post") - posts, ended("mail") - mails);
    let ratio = posts as f64 / mails as f64;
    assert!((2.2..4.0).contains(&ratio), "three to one: {posts} to {mails}");
    assert_eq!(work.desk.seen("all").most, 8, "as many as it has, and never more");
    work.stop().await;
}

async fn no_place_is_idle_while_any_queue_has_work(db: Db) {
    let work = Work::told(&db, |w| w.concurrency(8).weight("post", 3)).await.expect("starts");
    // Alone it has all of them, whatever its weight.
    work.client.start_many((0..80).map(|_| Mail::start(50))).await.expect("starts");
    eventually("eight at once", LONG, async || work.desk.seen("mail").most == 8).await;
    eventually("all end", LONG, async || work.desk.seen("mail").ended == 80).await;
    work.stop().await;
    // A queue of few steps of its own leaves the rest to the others.
    let work = Work::told(&db, |w| w.concurrency(8).weight("post", 3).queue("post", 2)).await.expect("starts");
    work.client.start_many((0..100).map(|_| Post::start(50))).await.expect("starts");
    work.client.start_many((0..100).map(|_| Mail::start(50))).await.expect("starts");
    eventually("two and six", LONG, async || {
        (work.desk.seen("post").most, work.desk.seen("mail").most) == (2, 6) && work.desk.seen("all").most == 8
    })
    .await;
    work.stop().await;
}

async fn no_queue_starves_where_there_are_fewer_places_than_queues(db: Db) {
    let work = Work::told(&db, |w| w.concurrency(1).weight("post", 10)).await.expect("starts");
    work.client.start_many((0..400).map(|_| Post::start(5))).await.expect("starts");
    work.client.start_many((0..400).map(|_| Mail::start(5))).await.expect("starts");
    work.client.start_many((0..400).map(|_| Plain::start(5))).await.expect("starts");
    let ended = |name| work.desk.seen(name).ended;
    eventually("each has its turns", Duration::from_secs(60), async || ended("mail") >= 5 && ended("plain") >= 5).await;
    assert!(ended("post") >= 3 * ended("mail"), "{} to {}", ended("post"), ended("mail"));
    assert_eq!(work.desk.seen("all").most, 1);
    work.stop().await;
}
