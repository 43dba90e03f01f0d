//! The history, as it is read.

use gen_durable::{Client, InstanceId};
use suite::{Db, store_options};

suite::stores! {
    both {
        a_long_history_is_read_as_a_whole_and_in_order,
        a_page_of_history_begins_after_a_line_whatever_was_forgotten_before_it,
    }
}

fn client(db: &Db) -> Client {
    Client::on(store_options(&db.url).open().expect("a store"))
}

/// Lines of instances 7 and 8, by turns.
const LINES: &str = "INSERT INTO gen_durable_history
      (instance_id, visit, from_step, outcome, attempt, started_at, committed_at)
    SELECT 7 + i % 2, i / 2, 'poll', 'retry', 0, now(), now() FROM generate_series(0, 5001) i";

const SEVEN: InstanceId = InstanceId::new(7);

async fn a_long_history_is_read_as_a_whole_and_in_order(db: Db) {
    let client = client(&db);
    assert_eq!(client.history(SEVEN).await.expect("reads"), []);
    db.run(LINES).await;
    let visits: Vec<i64> = client.history(SEVEN).await.expect("reads").iter().map(|line| line.visit).collect();
    assert_eq!(visits, (0..2_501).collect::<Vec<_>>());
}

async fn a_page_of_history_begins_after_a_line_whatever_was_forgotten_before_it(db: Db) {
    let client = client(&db);
    db.run(LINES).await;
    let first = client.history_after(SEVEN, 0, 3).await.expect("reads");
    assert_eq!(first.iter().map(|line| line.visit).collect::<Vec<_>>(), [0, 1, 2]);
    db.run("DELETE FROM gen_durable_history WHERE instance_id = 7 AND visit < 2").await;
    let last = first.last().expect("three").id;
    let second = client.history_after(SEVEN, last, 3).await.expect("reads");
    assert_eq!(second.iter().map(|line| line.visit).collect::<Vec<_>>(), [3, 4, 5]);
    assert_eq!(client.history_after(SEVEN, i64::MAX, 3).await.expect("reads"), []);
}
