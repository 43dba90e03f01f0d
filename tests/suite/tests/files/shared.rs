//! Several processes on one file.

use std::time::Duration;

use gen_durable::start;
use suite::{WorkerProcess, eventually, size};

use super::{machines::Run, place::Place};

/// No step is run by both, and each has its part.
#[tokio::test]
async fn two_processes_share_the_work_of_one_file() {
    let place = Place::migrated().await;
    let (one, two) = (place.worker().spawn().await, place.worker().spawn().await);
    let all = size(10_000);
    let ids = place.start((0..all).map(|_| start(Run { millis: 2, steps: 2 }))).await;
    place.all_done(&ids, 2, Duration::from_secs(60)).await;
    assert_eq!(place.effects().await, i64::try_from(2 * all).expect("small"), "each step ran once");
    for worker in [&one, &two] {
        let its = place.effects_by(&format!("SELECT count(*) FROM effects WHERE process = {}", worker.pid())).await;
        assert!(its * 10 > i64::try_from(all).expect("small"), "{its}");
        assert_eq!(worker.logged(" WARN ") + worker.logged(" ERROR "), 0, "{:?}", worker.log());
    }
}

/// A look each 50 ms, whatever the poll. The first ones let both settle.
#[tokio::test]
async fn work_of_another_process_is_seen_within_its_look() {
    let place = Place::migrated().await;
    let _worker = place.worker().poll(Duration::from_secs(60)).spawn().await;
    let client = place.client();
    let mut took = Vec::new();
    for n in 0_u32..25 {
        tokio::time::sleep(Duration::from_millis(u64::from(n * 7 % 50))).await;
        let id = client.start(start(Run { millis: 0, steps: 1 })).await.expect("starts").id().expect("known");
        let ran = format!("SELECT count(*) FROM effects WHERE instance = {id}");
        eventually("it ran", Duration::from_secs(10), async || place.effects_by(&ran).await == 1).await;
        let started = place.count(&format!("SELECT inserted_at FROM gen_durable WHERE id = {id}")).await;
        took.push(place.effects_by(&format!("SELECT at FROM effects WHERE instance = {id}")).await - started);
    }
    took.sort_unstable();
    let (middle, last) = (took[took.len() / 2] / 1_000, took[took.len() - 1] / 1_000);
    println!("from start to step, in another process: median {middle} ms, at most {last} ms");
    assert!(middle < 100, "{took:?}");
}

/// None is in another's way: all come up, and the tables are made once.
#[tokio::test]
async fn ten_processes_that_make_one_file_at_once_all_work_on_it() {
    let place = Place::empty().await;
    let mut workers: Vec<WorkerProcess> = (0..10).map(|_| place.worker().launch()).collect();
    for worker in &mut workers {
        let line = tokio::time::timeout(Duration::from_secs(60), worker.line()).await;
        assert_eq!(line.ok().flatten().as_deref(), Some("ready"), "{:?}", worker.log());
    }
    assert_eq!(place.count("SELECT count(*) FROM gen_durable_meta").await, 1);
    let ids = place.start((0..300).map(|_| start(Run { millis: 5, steps: 2 }))).await;
    place.all_done(&ids, 2, Duration::from_secs(60)).await;
    assert_eq!(place.effects().await, 600, "each step ran once");
}

/// Their first calls too: the file is opened by all of them in one moment.
#[tokio::test(flavor = "multi_thread")]
async fn clients_that_open_one_file_at_once_all_start() {
    let place = Place::migrated().await;
    let mut processes: Vec<WorkerProcess> = (0..10).map(|_| place.worker().with("SUITE_STARTS", 1).launch()).collect();
    for process in &mut processes {
        process.line().await;
    }
    let names: Vec<String> = (0..10).map(|n: u64| n.to_string()).collect();
    for (process, name) in processes.iter_mut().zip(&names) {
        process.tell(name).await;
    }
    for process in &mut processes {
        let line = process.line().await.expect("an answer");
        assert!(line.starts_with("1 0 0 "), "{line}");
    }
    assert_eq!(place.count("SELECT count(*) FROM gen_durable").await, 10);
}
