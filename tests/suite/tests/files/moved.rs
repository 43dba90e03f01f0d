//! A file that goes while it is open.

use std::{fs, time::Duration};

use gen_durable::{Filter, InstanceId, start};
use suite::eventually;

use super::{machines::Run, place::Place};

/// Where the file is while it is away, with what stands beside it.
fn put(place: &Place, from: &str, to: &str) {
    for end in ["", "-wal", "-shm"] {
        let at = |name: &str| place.dir().join(format!("{name}{end}"));
        if at(from).exists() {
            fs::rename(at(from), at(to)).expect("renames");
        }
    }
}

/// Work on a file that has no name any more would be lost, all of it, with the end of the process.
#[tokio::test]
async fn a_file_that_was_removed_is_said_and_outcomes_are_held_until_it_is_put_back() {
    let place = Place::migrated().await;
    let ids = place.start((0..50).map(|_| start(Run { millis: 20, steps: 20 }))).await;
    let client = place.client();
    client.check().await.expect("stands");
    let worker = place.worker().lease(Duration::from_secs(30)).spawn().await;
    eventually("it works", Duration::from_secs(10), async || place.effects().await > 50).await;
    put(&place, "gen-durable.db", "away.db");
    let told = format!("the database file {} was removed or replaced while it was open", place.file().display());
    eventually("the operator is told", Duration::from_secs(5), async || worker.logged(&told) > 2).await;
    let held = place.effects().await;
    let error = client.start(start(Run { millis: 0, steps: 1 })).await.expect_err("it is gone");
    assert!(error.to_string().contains(&told) && error.is_transient(), "{error}");
    let error = client.list(Filter::default()).await.expect_err("reads neither");
    assert!(error.to_string().contains(&told), "{error}");
    assert!(place.effects().await <= held + 10, "no step runs on before its outcome is durable");
    put(&place, "away.db", "gen-durable.db");
    let more = client.start(start(Run { millis: 0, steps: 20 })).await.expect("goes on").id();
    let ids: Vec<InstanceId> = ids.into_iter().chain(more).collect();
    place.all_done(&ids, 20, Duration::from_secs(30)).await;
    assert_eq!(place.effects().await, 51 * 20, "each step ran once");
}

/// As when a copy is put back under a program that runs: what that one knows is of the other file.
#[tokio::test]
async fn a_file_that_was_replaced_is_said_and_the_next_program_works_on_it() {
    let place = Place::migrated().await;
    let ids = place.start((0..20).map(|_| start(Run { millis: 20, steps: 4 }))).await;
    fs::copy(place.file(), place.dir().join("copy.db")).expect("copies");
    let worker = place.worker().spawn().await;
    eventually("it works", Duration::from_secs(10), async || place.effects().await > 20).await;
    put(&place, "gen-durable.db", "away.db");
    put(&place, "copy.db", "gen-durable.db");
    let told = format!("the database file {} was removed or replaced while it was open", place.file().display());
    eventually("the operator is told", Duration::from_secs(5), async || worker.logged(&told) > 2).await;
    assert_eq!(place.count("SELECT max(transitions) FROM gen_durable").await, 0, "nothing went to the other file");
    let _next = place.worker().spawn().await;
    place.all_done(&ids, 4, Duration::from_secs(30)).await;
    drop(worker);
}

/// All that was committed since the last checkpoint stands there alone: a crash would take it.
#[tokio::test]
async fn a_log_that_was_removed_is_said_and_what_it_held_is_saved() {
    let place = Place::migrated().await;
    let worker = place.worker().spawn().await;
    let ids = place.start((0..50).map(|_| start(Run { millis: 20, steps: 8 }))).await;
    eventually("it works", Duration::from_secs(10), async || place.effects().await > 50).await;
    fs::remove_file(place.dir().join("gen-durable.db-wal")).expect("removes");
    let told = format!("the -wal beside the database file {} was removed", place.file().display());
    eventually("the operator is told", Duration::from_secs(5), async || worker.logged(&told) > 0).await;
    drop(worker);
    assert!(place.count("SELECT sum(transitions) FROM gen_durable").await > 20, "what was committed");
    let _next = place.worker().spawn().await;
    place.all_done(&ids, 8, Duration::from_secs(30)).await;
}
