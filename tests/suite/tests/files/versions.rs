//! Files of older and newer programs.

use std::time::Duration;

use gen_durable::start;

use super::{machines::Run, place::Place};

#[tokio::test]
async fn a_newer_file_that_allows_this_program_is_worked_on_and_left_as_it_is() {
    let place = Place::migrated().await;
    place.run("UPDATE gen_durable_meta SET version = 99; ALTER TABLE gen_durable ADD COLUMN newer TEXT").await;
    let _worker = place.worker().spawn().await;
    let ids = place.start([start(Run { millis: 0, steps: 2 })]).await;
    place.all_done(&ids, 2, Duration::from_secs(10)).await;
    assert_eq!(place.count("SELECT version FROM gen_durable_meta").await, 99);
}

#[tokio::test]
async fn a_newer_file_that_does_not_is_refused_by_migration_worker_and_client() {
    let place = Place::migrated().await;
    place.run("UPDATE gen_durable_meta SET version = 99, oldest_code = 98").await;
    let text = format!(
        "{} is of a newer program: found version 99, which needs a program of version 98 or later, and this one is 3; \
         update the program",
        place.file().display()
    );
    let refused = place.refused().await;
    assert!(refused.is_schema() && refused.to_string() == text, "{refused}");
    let checked = place.client().check().await.expect_err("refused");
    assert!(checked.is_schema() && checked.to_string() == text, "{checked}");
    let mut worker = place.worker().launch();
    assert!(!worker.exit(Duration::from_secs(20)).await.success());
    assert_eq!(worker.logged(&text), 1, "{:?}", worker.log());
}

#[tokio::test]
async fn a_file_without_our_tables_gets_them_and_keeps_its_own() {
    let place = Place::migrated().await;
    place
        .run("PRAGMA foreign_keys = off; DROP TABLE gen_durable; DROP TABLE signals; DROP TABLE gen_durable_meta")
        .await;
    place
        .run("DROP TABLE gen_durable_buckets; DROP TABLE gen_durable_bucket_configs; DROP TABLE gen_durable_history")
        .await;
    place
        .run("DROP TABLE gen_durable_held; DROP TABLE gen_durable_queues; DROP TABLE gen_durable_workers; DROP TABLE gen_durable_schedules")
        .await;
    place.run("CREATE TABLE orders (id); INSERT INTO orders VALUES (7)").await;
    let checked = place.client().check().await.expect_err("no tables");
    assert!(checked.is_schema() && checked.to_string().contains("found version 0, need 3; run `migrate`"), "{checked}");
    let _worker = place.worker().spawn().await;
    let ids = place.start([start(Run { millis: 0, steps: 1 })]).await;
    place.all_done(&ids, 1, Duration::from_secs(10)).await;
    assert_eq!(place.count("SELECT id FROM orders").await, 7);
}

/// No guess is made of what stands there.
#[tokio::test]
async fn a_file_with_half_of_our_tables_is_refused_and_left_as_it_is() {
    for loss in ["DROP TABLE gen_durable_meta", "DELETE FROM gen_durable_meta"] {
        let place = Place::migrated().await;
        place.start([start(Run { millis: 0, steps: 1 })]).await;
        place.run(loss).await;
        let refused = place.refused().await;
        let text = refused.to_string();
        assert!(refused.is_schema() && text.contains("some of the gen-durable tables"), "{text}");
        assert!(text.contains(&place.file().display().to_string()), "{text}");
        assert!(place.client().check().await.expect_err("refused").is_schema());
        assert_eq!(place.count("SELECT count(*) FROM gen_durable").await, 1);
    }
}
