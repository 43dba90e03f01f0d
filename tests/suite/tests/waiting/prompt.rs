//! How soon a result of another process is here.

use std::time::{Duration, Instant};

use gen_durable::{Client, Handle, InstanceId, start};
use jiff::Timestamp;
use suite::{Db, WorkerOptions, WorkerProcess};

use crate::{
    LONG, client,
    rig::{Go, Patience, Run, Timed, Work},
};

suite::stores! {
    both(flavor = "multi_thread", worker_threads = 2) {
        serial_a_result_of_another_process_is_here_within_50_ms,
        five_thousand_waits_for_another_process_share_a_pool_of_five,
    }
    postgres(flavor = "multi_thread", worker_threads = 2) {
        behind_a_pooler_a_result_is_looked_for_each_250_ms => "no pooler: a file is always looked at",
    }
}

/// The promise, and what a busy machine may add; looks alone would take 500 ms in the median.
const WITHIN: Duration = Duration::from_millis(50);
const MARGIN: Duration = Duration::from_millis(100);

pub(crate) async fn process(db: &Db) -> WorkerProcess {
    WorkerOptions::new(env!("CARGO_BIN_EXE_suite-worker"), db).poll(LONG).spawn().await
}

/// Waits that have long begun when their instances end, one after the other: the median from the commit to the answer.
pub(crate) async fn median(db: &Db, client: &Client) -> Duration {
    let parked: Vec<Handle<Timed>> = futures_util::future::join_all(
        (0..9).map(|_| async { client.start(start(Patience { within: LONG })).await.expect("starts") }),
    )
    .await;
    let waits: Vec<_> = parked.iter().map(|timed| ended(timed.clone())).collect();
    // By now looks are a second apart, or 250 ms.
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    for timed in &parked {
        timed.signal(Go { n: 1 }).await.expect("delivers");
        tokio::time::sleep(Duration::from_millis(130)).await;
    }
    let mut took = Vec::new();
    for (timed, wait) in parked.iter().zip(waits) {
        took.push(since_its_end(db, timed.id().expect("known"), wait.await.expect("no panic")).await);
    }
    took.sort();
    eprintln!("{took:?}");
    took[4]
}

fn ended(timed: Handle<Timed>) -> tokio::task::JoinHandle<Timestamp> {
    tokio::spawn(async move {
        assert!(timed.wait().timeout(LONG).await.expect("ends"));
        Timestamp::now()
    })
}

/// One machine, one clock: from the commit to here.
async fn since_its_end(db: &Db, id: InstanceId, here: Timestamp) -> Duration {
    let sql = "SELECT extract(epoch FROM updated_at)::float8 FROM gen_durable WHERE id = ANY ($1)";
    let ended = db.number_of(sql, &[id]).await;
    Duration::from_secs_f64((here.as_duration().as_secs_f64() - ended).max(0.0))
}

async fn serial_a_result_of_another_process_is_here_within_50_ms(db: Db) {
    let db = db.with_effects().await;
    let (_process, client) = (process(&db).await, client(&db).await);
    let median = median(&db, &client).await;
    assert!(median < WITHIN + MARGIN, "{median:?}");
}

/// O-31.
async fn five_thousand_waits_for_another_process_share_a_pool_of_five(db: Db) {
    let db = db.with_effects().await;
    let client = client(&db).await;
    let started = client.start_many((0..5_000).map(|_| start(Run { millis: 0, steps: 1 }))).await.expect("starts");
    let waits: Vec<_> = started
        .iter()
        .map(|started| {
            let wait = client.by_id::<Work>(started.id()).wait();
            tokio::spawn(async move { wait.await })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(500)).await;
    let connections = db.engines_connections().await;
    assert!(connections <= 5 + 1 + 6 + 2, "{connections}: the client's, one that listens, the harness's, and writers");
    let began = Instant::now();
    client.show(&gen_durable::Target::Id(started[0].id())).await.expect("others get through");
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    let _process = process(&db).await;
    for wait in waits {
        assert_eq!(wait.await.expect("no panic").expect("ends"), 1);
    }
}

#[cfg(feature = "postgres")]
async fn behind_a_pooler_a_result_is_looked_for_each_250_ms(db: Db) {
    let db = db.with_effects().await;
    let _process = process(&db).await;
    let client = Client::options(&db.url).pool_size(5).transaction_pooler(true).connect().await.expect("connects");
    let median = median(&db, &client).await;
    assert!(median < Duration::from_millis(250) + MARGIN, "{median:?}");
    assert_eq!(db.count(crate::lost::LISTENERS).await, 1, "the worker's");
}
